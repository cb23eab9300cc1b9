import httpx
from calls import calls, headers, show


def make(method, url, body):
    # its get, head, options and delete take no body
    answer = (
        getattr(httpx, method.lower())(url, headers=headers)
        if body is None
        else httpx.request(method, url, json=body, headers=headers)
    )
    return answer.status_code, answer.headers.get("content-type"), answer.text


show([make(*call) for call in calls])
