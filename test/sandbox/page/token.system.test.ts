/** The page on an address that other machines reach, in a browser: it opens by its token alone. */
import { expect, test } from 'vitest'
import { createSandbox } from '../../../src/sandbox/create.ts'
import { hasBrowser, TestBrowser } from '../../support/browser.ts'

test.skipIf(!hasBrowser)(
  'the printed address opens the page, and the browser keeps a cookie instead of the token',
  async () => {
    await using sandbox = await createSandbox({ host: '0.0.0.0', rates: 'off', phones: 'all' })
    const { home, control } = sandbox
    const { url } = await sandbox.startPage({ host: '0.0.0.0' })
    const { origin, searchParams } = new URL(url)
    const token = searchParams.get('token') ?? ''
    await using browser = await TestBrowser.start()
    await using tab = await browser.open(`${url}#/as/alice/${home.privateChat}`)
    const { page, problems } = tab
    expect(page.url()).toBe(`${origin}/#/as/alice/${home.privateChat}`)
    await control.write({ userId: home.alice.id, chatId: home.privateChat, text: 'by the stream' })
    await expect
      .poll(() => page.locator('.bubble .words').allTextContents())
      .toEqual(['by the stream'])
    const held = await page.evaluate(() =>
      [document.cookie, document.referrer, ...Object.values(localStorage), history.length].join(
        ' ',
      ),
    )
    expect(held).not.toContain(token)
    await page.reload()
    await page.locator('.bubble .words').first().waitFor()
    expect(problems).toEqual([])
    const stranger = await page.context().browser()?.newContext()
    const other = await stranger?.newPage()
    expect((await other?.goto(origin))?.status()).toBe(401)
    await stranger?.close()
  },
)
