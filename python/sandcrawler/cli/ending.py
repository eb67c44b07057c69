"""How commands that give out a lot end when somebody else ends them."""

import signal
import threading


def end_as_by_ctrl_c() -> None:
    """Let SIGTERM do what Ctrl-C does. Schedulers, service managers and `timeout` send it: what is made goes out first,
    drafts are deleted, and the exit code says that it was interrupted.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)
