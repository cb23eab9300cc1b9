import requests
from calls import calls, headers, show


def make(method, url, body):
    function = getattr(requests, method.lower())
    answer = function(url, headers=headers) if body is None else function(url, json=body, headers=headers)
    return answer.status_code, answer.headers.get("content-type"), answer.text


show([make(*call) for call in calls])
