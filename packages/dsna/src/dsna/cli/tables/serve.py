"""``dsna serve``: a form, an upload and a JSON API for a trained model."""

from __future__ import annotations

import socket
import sys
import threading
import warnings
import webbrowser
from contextlib import suppress
from typing import Annotated, Any

import typer

from ..._utils.errors import DSNAError
from ..._utils.optional import install_command
from ..errors import exit_on_user_error, say
from ..options import flag, names
from .options import ModelFile, check_model

_REMEDY = install_command("serve")
_AUTO = "auto"


def serve(
    model: ModelFile,
    host: Annotated[
        str, typer.Option(help="Address to listen on; addresses that other machines can reach need a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 for any free port.")] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="DSNA_TOKEN", help="Token that clients must send, 16 characters or more; auto creates one."
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(help="Further host names of this server: a.example or a.example:80."),
    ] = None,
    max_mb: Annotated[float, typer.Option(min=0.001, max=1000, help="Maximum request size in megabytes.")] = 5.0,
    max_rows: Annotated[int, typer.Option(min=1, help="Maximum number of rows per request.")] = 10_000,
    timeout: Annotated[float, typer.Option(min=0.1, help="Time limit of a request in seconds.")] = 60.0,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="Maximum number of concurrent requests.")] = 4,
    open_browser: Annotated[bool, flag("--open", "Open the page in a browser.")] = False,
) -> None:
    """Serve a model to a browser and to programs: a form for one case, an upload for many, a JSON API.

    Answers come with the training rows behind them. Only this machine can reach the server, unless --host names
    another address, which needs a token. Nothing that clients send is stored. Press Ctrl-C to stop.

    For example:

    - `dsna serve fraud.dsna --open`

    - `dsna serve fraud.dsna --port 8080 --max-rows 50000 --max-mb 20`

    - `DSNA_TOKEN=... dsna serve fraud.dsna --host 0.0.0.0 --name models.example:8000`
    """
    with exit_on_user_error("serve", _REMEDY, "The server has ended."):
        check_model(model)
        from ...serve.access import Access, new_token
        from ...serve.limits import Limits

        server_token = new_token() if token == _AUTO else token or None
        listening = _listen(host, port)
        with listening:
            access = Access(host=host, port=listening.getsockname()[1], names=names(name), token=server_token)
            limits = Limits(megabytes=max_mb, rows=max_rows, seconds=timeout, threads=jobs)
            _run(str(model), access, limits, listening, open_browser, show_token=token == _AUTO)


def _run(
    model: str, access: Any, limits: Any, listening: socket.socket, open_browser: bool, *, show_token: bool
) -> None:
    """Load the model and serve it until Ctrl-C."""
    from ..._utils.parallel import one_blas_thread
    from ...app.predict import load_model
    from ...serve.application import create_app
    from ...serve.network.server import build_server
    from ...serve.service import Service

    pipeline = load_model(model)
    pipeline.steps[-1][1].set_params(n_jobs=1)
    service = Service(pipeline, limits)
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what concerns rows is noted in their answers
        service.warm_up()
        server = build_server(create_app(service, access))
        address = access.address()
        say(f"{service.title}: {address}")
        if access.is_everywhere:
            say(f"Other machines reach it at http://{socket.gethostname()}:{access.port}/ or by IP address.")
        if service.about["holds_training_rows"]:
            say("The model file holds training rows; anyone who can reach this address can see some of them.")
        if show_token:
            say(f"Token: {access.token}")
        if access.token is not None:
            say("Requests are not encrypted: on a shared network, put a TLS proxy in front of the server.")
        say("Press Ctrl-C to stop.")
        sys.stdout.flush()
        if open_browser:
            threading.Timer(0.5, webbrowser.open, (address,)).start()
        with suppress(KeyboardInterrupt):  # while uvicorn does not handle signals
            server.run(sockets=[listening])
    say("The server has ended.")
    server.end_process()


def _listen(host: str, port: int) -> socket.socket:
    """Open a listening socket; raise an error if the address is in use or not one of this machine."""
    bare = host.strip("[]")
    try:
        family, kind, proto, _, address = socket.getaddrinfo(
            bare or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, proto)
    except OSError as error:
        raise DSNAError(
            f"--host {host}: there is no such address ({error.strerror}). Remedy: name one of this machine's."
        ) from None
    try:
        if sys.platform != "win32":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise DSNAError(
            f"cannot listen on {host}:{port} ({error.strerror}). Remedy: name another --port (0: any free one), or "
            "--host."
        ) from None
    return listening
