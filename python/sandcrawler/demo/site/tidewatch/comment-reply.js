window.addComment = { moveForm: function () { return false; } };
