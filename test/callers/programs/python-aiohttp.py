import asyncio

import aiohttp
from calls import calls, headers, show


async def make(session, method, url, body):
    function = getattr(session, method.lower())
    async with function(url) if body is None else function(url, json=body) as answer:
        return answer.status, answer.headers.get("content-type"), await answer.text()


async def main():
    async with aiohttp.ClientSession(headers=headers) as session:
        show([await make(session, *call) for call in calls])


asyncio.run(main())
