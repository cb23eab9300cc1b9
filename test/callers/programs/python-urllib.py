import json
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from calls import calls, headers, show


def make(method, url, body):
    request = Request(url, method=method, headers=headers)
    if body is not None:
        request.add_header("Content-Type", "application/json")
        request.data = json.dumps(body).encode()
    try:
        answer = urlopen(request)
    except HTTPError as error:
        answer = error
    return answer.status, answer.headers.get("content-type"), answer.read().decode()


show([make(*call) for call in calls])
