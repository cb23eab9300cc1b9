/** Activity in a real browser: every call with its legs, found, compared, copied and sent again. */
import { execFile } from '../../support/programs.ts'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Locator, Page } from 'playwright-core'
import { AddedClient } from '../../../src/config/client-entry.ts'
import { hasBrowser, NARROW, WIDE, type Tab } from '../../support/browser.ts'
import { press, usePage } from '../../support/page-use.ts'

describe.skipIf(!hasBrowser)('the list of calls on the page', () => {
  const stage = usePage()
  let tab: Tab
  let page: Page
  const call = (words: RegExp | string): Locator =>
    page.locator('.call', { hasText: words }).first()
  const detail = (): Locator => page.locator('.call-detail')
  const hash = (): Promise<string> => page.evaluate(() => location.hash)
  const notice = (words: RegExp): Locator => page.locator('.notice', { hasText: words }).last()

  beforeAll(async () => {
    const { control, home } = stage.sandbox
    const dm = { userId: home.alice.id, chatId: home.privateChat }
    const phone = await stage.sandbox.phone(home.alice.id)
    await control.write({ ...dm, text: 'the key' })
    await phone.seen(({ text }) => text.includes('you said: the key'))
    await stage.call('POST', '/messages', { chatId: home.privateChat })
    tab = await stage.open('#/activity')
    page = tab.page
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await call(/POST \/messages\s*201/).waitFor()
  })
  afterAll(() => tab[Symbol.asyncDispose]())

  async function copied(): Promise<string> {
    await notice(/is on the clipboard/).waitFor()
    return await page.evaluate(() => navigator.clipboard.readText())
  }

  test('a call is one row with both legs, and their differing lines are marked', async () => {
    const row = call(/Echo → sidecar → service\s*POST \/messages\s*201/)
    await row.click()
    expect(await detail().locator('.leg-head h3').allInnerTexts()).toEqual([
      'Echo → sidecar',
      'sidecar → service',
    ])
    const marked = await detail().locator('.body mark').allInnerTexts()
    expect(marked.some((line) => line.includes('"text": "you said: the key"'))).toBe(true)
    expect(marked.some((line) => line.includes('"armored": "-----BEGIN PGP MESSAGE'))).toBe(true)
    expect(marked.some((line) => line.includes('"postern": {'))).toBe(true)
    expect(marked.some((line) => line.includes('"ok": true'))).toBe(false)
    const sealed = await detail().getByLabel('request, sidecar to service').innerText()
    expect(sealed).not.toContain('the key')
  })

  test.each([
    ['wide', WIDE],
    ['narrow', NARROW],
  ])(
    'a call has its caller, duration and headers, and no secret, on a %s screen',
    async (_name, viewport) => {
      const { token } = await stage.operations.clientAdd(
        AddedClient.parse({ name: 'night', chats: ['all'], may: ['read'] }),
      )
      await fetch(`${stage.botUrl}/bot/v1/chats/${stage.sandbox.home.privateChat}`, {
        headers: { authorization: `Bearer ${token}`, 'user-agent': 'nightly/1' },
      })
      await using other = await stage.open('#/activity', { viewport })
      const row = other.page.locator('.call', { hasText: /night → sidecar/ }).first()
      await row.getByText('night').waitFor()
      await row.getByText(/^\d+ ms$/).waitFor()
      await row.click()
      const shown = other.page.locator('.call-detail')
      await shown
        .getByText(/^took \d+ ms$/)
        .first()
        .waitFor()
      const first = shown.locator('.headers').first()
      await shown
        .getByText(/^\d+ headers$/)
        .first()
        .click()
      await first.getByText('nightly/1').waitFor()
      expect(await first.innerText()).toMatch(/authorization\s*…/i)
      expect(await shown.innerHTML()).not.toContain(token)
      expect(await shown.innerHTML()).not.toMatch(/bearer /i)
      await shown.getByText('cache-control').first().waitFor({ state: 'attached' })
      await stage.operations.clientRemove({ name: 'night' })
    },
  )

  test('the address of a call opens it again after a reload', async () => {
    await call(/Echo → sidecar → service\s*POST \/messages\s*201/).click()
    const address = await hash()
    expect(address).toMatch(/^#\/activity\/sidecar-\d+$/)
    await detail().getByRole('button', { name: 'Copy link' }).click()
    expect(await copied()).toBe(await page.evaluate(() => location.href))
    await page.reload()
    await detail()
      .getByRole('heading', { name: /POST \/messages 201/ })
      .waitFor()
    expect(await page.locator('.call[aria-selected=true]').count()).toBe(1)
  })

  test('the filters select calls by person, route, status, errors, words and polls', async () => {
    const shown = async (): Promise<string[]> => await page.locator('.call').allTextContents()
    const all = (await shown()).length
    await page.getByRole('combobox', { name: 'Who' }).selectOption('Alice')
    await expect.poll(async () => (await shown()).every((one) => one.includes('Alice'))).toBe(true)
    await page.getByRole('button', { name: 'Show all' }).click()
    await page.getByRole('checkbox', { name: 'errors only' }).check()
    await expect.poll(async () => (await shown()).length).toBeLessThan(all)
    expect((await shown()).every((one) => /[45]\d\d \w+\s*[\d.]+ m?s$/.test(one.trim()))).toBe(true)
    await page.getByRole('button', { name: 'Show all' }).click()
    await page.getByRole('combobox', { name: 'Status' }).selectOption('4xx, refused')
    await expect
      .poll(async () => (await shown()).every((one) => /4\d\d \w+\s*[\d.]+ m?s$/.test(one.trim())))
      .toBe(true)
    await page.getByRole('combobox', { name: 'Status' }).selectOption('')
    await page.getByRole('combobox', { name: 'Route' }).selectOption('POST /messages')
    await expect
      .poll(async () => (await shown()).every((one) => one.includes('POST /messages')))
      .toBe(true)
    await page.getByRole('button', { name: 'Show all' }).click()
    await page.getByRole('searchbox').fill('YOU SAID: the key')
    await expect.poll(async () => (await shown()).length).toBe(1)
    await page.getByRole('button', { name: 'Show all' }).click()
    expect((await shown()).some((one) => one.includes('GET /me2'))).toBe(false)
    await page.getByRole('checkbox', { name: /without idle polls/ }).uncheck()
    await expect
      .poll(async () => (await shown()).some((one) => one.includes('GET /me2')))
      .toBe(true)
    await page.getByRole('button', { name: 'Show all' }).click()
  })

  test('a call copied as curl works in a shell, without the token in its text', async () => {
    await call(/Echo → sidecar → service\s*POST \/messages\s*201/).click()
    for (const [index, path] of ['/bot/v1/messages', '/bot/v1/messages'].entries()) {
      await detail().getByRole('button', { name: 'Copy as curl' }).nth(index).click()
      const command = await copied()
      expect(command).toContain(index === 0 ? stage.botUrl + path : stage.sandbox.url + path)
      expect(command).not.toContain(stage.sandbox.token)
      const env = { ...process.env, BOT_TOKEN: stage.sandbox.token }
      const { stdout } = await promisify(execFile)('sh', ['-c', command], { env })
      expect(JSON.parse(stdout)).toMatchObject({
        ok: true,
        result: { id: expect.any(Number) as number },
      })
      await page.getByRole('button', { name: 'Dismiss' }).last().click()
    }
  })

  test('a call is sent again to the sidecar, and to the service as the bot', async () => {
    await call(/Echo → sidecar → service\s*POST \/messages\s*201/).click()
    const { home, control } = stage.sandbox
    const count = async (): Promise<number> =>
      (await control.messages({ chatId: home.privateChat })).length
    const sendAgain = async (button: string, status: number): Promise<number> => {
      const before = await count()
      await detail().getByRole('button', { name: button }).click()
      const words = new RegExp(`POST /bot/v1/messages was sent again, and answered with ${status}`)
      await notice(words).waitFor()
      for (const one of await page.getByRole('button', { name: 'Dismiss' }).all()) await one.click()
      return (await count()) - before
    }
    expect(await sendAgain('Send again to the sidecar', 201)).toBe(1)
    // It has the same sendId, for which the service sends once.
    expect(await sendAgain('Send again to the service, as the bot', 200)).toBe(0)
  })

  test('the list of calls is walked, marked and read with keys alone', async () => {
    await page.evaluate(() => (location.hash = '#/activity'))
    await page.locator('#calls').focus()
    await page.keyboard.press('End')
    const last = await hash()
    await page.keyboard.press('Home')
    const first = await hash()
    expect(first).not.toBe(last)
    await press(page, 'j ArrowDown k k')
    expect(await hash()).toBe(first)
    await page.keyboard.press('m')
    await page.getByRole('button', { name: 'Save 1 marked as a test' }).waitFor()
    await press(page, 'm Enter')
    await page.locator('#call-title:focus').waitFor()
    await page.keyboard.press('Escape')
    await detail().waitFor({ state: 'detached' })
    await page.locator('#calls:focus').waitFor()
  })

  test('a list of 1,200 calls renders only the rows in view, and new calls do not scroll it', async () => {
    const record = (n: number): void =>
      stage.traffic.record({
        kind: 'call',
        method: 'POST',
        path: `/bot/v1/chats/${n}/typing`,
        request: '{"typing":true}',
        status: 200,
        answer: JSON.stringify({ ok: true, result: { n, words: 'x'.repeat(500) } }),
      })
    for (let n = 1; n <= 1200; n++) record(n)
    await page.reload()
    await call('/chats/1200/typing').waitFor()
    expect(await page.locator('.call').count()).toBeLessThan(60)
    expect(await page.locator('.call').first().getAttribute('aria-setsize')).toMatch(/^1[2-9]\d\d$/)
    // Sixty steps render only the rows that scroll into view.
    const made = await page.locator('#calls').evaluate(async (list) => {
      const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
      const ids: string[] = []
      const observer = new MutationObserver((records) => {
        for (const { addedNodes } of records)
          for (const node of addedNodes) if (node instanceof HTMLElement) ids.push(node.id)
      })
      observer.observe(list, { childList: true, subtree: true })
      for (let step = 1; step <= 60; step++) {
        list.scrollTop += 600
        await frame()
        await frame()
      }
      observer.disconnect()
      return ids
    })
    expect(made.length).toBeGreaterThan(500)
    expect(new Set(made).size).toBe(made.length)
    const top = (): Promise<string> =>
      page.locator('#calls').evaluate((list) => {
        const { top: edge } = list.getBoundingClientRect()
        const rows = [...list.querySelectorAll('.call')]
        return rows.find((row) => row.getBoundingClientRect().bottom > edge + 5)?.id ?? ''
      })
    const before = await top()
    for (let n = 2001; n <= 2005; n++) record(n)
    await page
      .getByRole('status')
      .filter({ hasText: /^1,2\d\d calls/ })
      .first()
      .waitFor()
    await expect
      .poll(() => page.locator('.call').first().getAttribute('aria-setsize'))
      .toMatch(/^12[0-9][0-9]$/)
    expect(await top()).toBe(before)
    await page.locator('#calls').focus()
    for (let n = 0; n < 40; n++) await page.keyboard.press('ArrowDown')
    expect(await page.locator('.call[aria-selected=true]').count()).toBe(1)
  })

  test('a narrow screen shows a call in place of the list, and returns by its button', async () => {
    await using narrow = await stage.open('#/activity', { viewport: NARROW })
    await narrow.page.locator('.call').nth(2).click()
    await narrow.page.locator('.call-detail').waitFor()
    expect(await narrow.page.locator('#calls').isVisible()).toBe(false)
    const width = await narrow.page.evaluate(() => document.documentElement.scrollWidth)
    expect(width).toBeLessThanOrEqual(NARROW.width)
    await narrow.page.getByRole('button', { name: 'Back to the calls' }).click()
    await narrow.page.locator('#calls').waitFor()
    expect(narrow.problems).toEqual([])
    expect(WIDE.width).toBeGreaterThan(NARROW.width)
  })
})
