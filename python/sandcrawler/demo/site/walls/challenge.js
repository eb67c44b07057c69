document.title = "Are you a robot?";
