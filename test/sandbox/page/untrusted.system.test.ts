/** Hostile names, texts and files on the page are shown as text and files. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSandbox } from '../../../src/sandbox/create.ts'
import type { Page as ServedPage, Sandbox } from '../../../src/sandbox/create.ts'
import type { SeedInput } from '../../../src/sandbox/seed/schema.ts'
import { hasBrowser, NARROW, TestBrowser } from '../../support/browser.ts'
import { armor, packet } from '../../support/openpgp-framing.ts'
import { png } from '../../support/png.ts'
import { send } from '../support.ts'

const MARKUP = '<img src=x onerror="document.title=`taken`"><b>bold</b>${1+1}</script>'
const BOLD = '<b>bold</b>'
const SVG = `<svg xmlns="http://www.w3.org/2000/svg"><script>document.title='taken'</script></svg>`

describe.skipIf(!hasBrowser)('hostile names, texts and files on the page', () => {
  let sandbox: Sandbox
  let served: ServedPage
  let browser: TestBrowser
  beforeAll(async () => {
    sandbox = await createSandbox({ rates: 'off', phones: 'all' })
    served = await sandbox.startPage()
    browser = await TestBrowser.start()
  })
  afterAll(async () => {
    await browser[Symbol.asyncDispose]()
    await sandbox[Symbol.asyncDispose]()
  })

  test('HTML in names, titles, messages and button texts is shown as text', async () => {
    const { control, home } = sandbox
    const mark = await control.addPerson({ username: 'mark', firstName: MARKUP })
    await control.givePhone({ userId: mark.id })
    const members = [mark.id, home.alice.id, home.bot.id]
    const room = await control.addRoom({
      kind: 'group',
      title: MARKUP,
      members,
      historyVisible: true,
    })
    await control.write({ userId: mark.id, chatId: room.id, text: `@echo_bot ${MARKUP}` })
    const markup = { inlineKeyboard: [[{ text: BOLD, url: 'https://example.org/' }]] }
    expect((await send(sandbox, room.id, { text: MARKUP, markup })).status).toBe(201)
    await using tab = await browser.open(`${served.url}/#/as/mark/${room.id}`)
    const { page, problems } = tab
    await page.locator('.bubble .words').nth(1).waitFor()
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(MARKUP)
    expect(await page.locator('.bubble .words').allTextContents()).toEqual([
      `@echo_bot ${MARKUP}`,
      MARKUP,
    ])
    expect(await page.locator('.keyboard a').textContent()).toBe(BOLD)
    expect(await page.locator('main b, main img, main script').count()).toBe(0)
    expect(await page.title()).toContain('<img src=x')
    await page.goto(`${served.url}/#/world`)
    await page.getByRole('heading', { name: 'People' }).waitFor()
    expect(await page.locator('main b, main img').count()).toBe(0)
    expect(problems).toEqual([])
  })

  test('a button with a `javascript:` address has no link', async () => {
    const { home, control } = sandbox
    const evil = ['java', 'script:document.title=`taken`'].join('')
    const { messageId } = await control.write({
      userId: home.alice.id,
      chatId: home.privateChat,
      text: 'press',
    })
    await using tab = await browser.open(`${served.url}/#/as/alice/${home.privateChat}`)
    await tab.page.route('**/control/{messages,screen}', async (route) => {
      const response = await route.fetch()
      const envelope = (await response.json()) as { result: unknown }
      const list = Array.isArray(envelope.result)
        ? envelope.result
        : (envelope.result as { messages: object[] }).messages
      for (const message of list as { markup: unknown }[]) {
        message.markup = { inlineKeyboard: [[{ text: 'Go', url: evil }]] }
      }
      await route.fulfill({ response, json: envelope })
    })
    await tab.page.reload()
    const button = tab.page.locator(`#message-${messageId} .keyboard a`)
    await button.waitFor()
    expect(await button.getAttribute('href')).toBeNull()
    expect(tab.problems).toEqual([])
  })

  test('a file is shown as a picture only by its bytes, and never as a document', async () => {
    const { control, home } = sandbox
    const room = await control.addRoom({ kind: 'group', title: 'Files', members: [home.alice.id] })
    const sendFile = (file: Buffer) =>
      control.sendMedia({ userId: home.alice.id, chatId: room.id, base64: file.toString('base64') })
    await sendFile(Buffer.from(SVG))
    await sendFile(Buffer.from(`<!doctype html>${MARKUP}`))
    await sendFile(png(3, 3).subarray(0, 30))
    await sendFile(png(3, 3))
    await using tab = await browser.open(`${served.url}/#/as/alice/${room.id}`)
    const { page, problems } = tab
    await expect.poll(() => page.locator('.person-cell a.file').count()).toBe(3)
    const types = await page.locator('.person-cell .bubble a[download]').evaluateAll(
      async (links) =>
        await Promise.all(
          links.map(async (link) => {
            // Only to learn its type: the policy of the page forbids to fetch it.
            const image = link.querySelector('img')
            return image === null ? 'file' : String(image.naturalWidth)
          }),
        ),
    )
    expect(types).toEqual(['file', 'file', 'file', '3'])
    expect(await page.title()).not.toContain('taken')
    expect(problems).toEqual([])
  })

  test('HTML in a seed is shown as text, and a `javascript:` address or `__proto__` has no effect', async () => {
    const names = { firstName: MARKUP, lastName: MARKUP }
    const url = ['java', 'script:document.title=`taken`'].join('')
    const world: SeedInput = JSON.parse(
      JSON.stringify({
        people: { mark: { ...names }, constructor: { firstName: BOLD }, eve: { key: 'none' } },
        bots: { evil_bot: { name: MARKUP, about: MARKUP, description: MARKUP } },
        chats: {
          room: {
            kind: 'group',
            mode: 'open',
            title: MARKUP,
            description: MARKUP,
            members: { mark: 'owner', constructor: 'member', evil_bot: 'member' },
            history: [
              { from: 'mark', text: MARKUP },
              {
                from: 'evil_bot',
                text: MARKUP,
                markup: { inlineKeyboard: [[{ text: BOLD, url: 'https://example.org/' }]] },
              },
            ],
          },
        },
      }),
    )
    await using strange = await createSandbox({ world, rates: 'off', phones: 'all' })
    const { url: address } = await strange.startPage()
    const [room] = strange.chats
    for (const view of [`as/mark/${room?.id}`, `as/constructor/${room?.id}`, 'world', 'activity']) {
      await using tab = await browser.open(`${address}/#/${view}`)
      const { page, problems } = tab
      if (view.startsWith('as')) await page.locator('.bubble .words').nth(1).waitFor()
      expect(await page.locator('main b, main img, main script').count()).toBe(0)
      expect(await page.title()).not.toBe('taken')
      expect(problems).toEqual([])
    }
    const leading = JSON.parse(JSON.stringify(world).replace('https://example.org/', url))
    await expect(createSandbox({ world: leading as SeedInput })).rejects.toThrow('seed is refused')
    const polluted = '{"people":{"__proto__":{"polluted":1},"amy_b":{"key":"none"}}}'
    await using amy = await createSandbox({ world: JSON.parse(polluted) as SeedInput })
    expect(amy.people.map(({ username }) => username)).toEqual(['amy_b'])
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })

  test('long, wide and right-to-left words do not overflow their columns', async () => {
    const { control, home } = sandbox
    const members = [home.alice.id, home.bot.id]
    const room = await control.addRoom({
      kind: 'group',
      title: '無'.repeat(60),
      members,
      historyVisible: true,
    })
    for (const text of ['w'.repeat(600), '門'.repeat(300), 'שלום עולם, מה המפתח?', '\u202Eevil']) {
      await control.write({ userId: home.alice.id, chatId: room.id, text })
    }
    for (const viewport of [NARROW, { width: 1000, height: 700 }]) {
      await using tab = await browser.open(`${served.url}/#/as/alice/${room.id}`, { viewport })
      const { page, problems } = tab
      await page.locator('.bubble').nth(3).waitFor()
      const isOver = await page.evaluate(
        () =>
          document.documentElement.scrollWidth > innerWidth ||
          [...document.querySelectorAll('.cell')].some(
            (cell) => cell.scrollWidth > cell.clientWidth,
          ),
      )
      expect(isOver).toBe(false)
      const words = page.locator('.bubble .words').nth(2)
      const direction = await words.evaluate((element) => getComputedStyle(element).direction)
      expect(direction).toBe('rtl')
      expect(problems).toEqual([])
    }
  })

  test('a message with 3,000 packets shows 50 of them, and all on request', async () => {
    const { control, home } = sandbox
    const chat = { userId: home.alice.id, chatId: home.privateChat }
    const packets = Array.from({ length: 3000 }, () => packet(10, Buffer.from('PGP')))
    const { messageId } = await control.post({ ...chat, armored: armor(Buffer.concat(packets)) })
    await using tab = await browser.open(`${served.url}/#/as/alice/${home.privateChat}`)
    const listed = tab.page.locator(`#message-${messageId} .packets`)
    const more = listed.getByRole('button')
    await more.waitFor()
    expect(await more.textContent()).toBe('2,950 more packets')
    expect(await listed.locator('code').count()).toBe(50)
    await more.click()
    await more.waitFor({ state: 'detached' })
    expect(await listed.locator('code').count()).toBe(3000)
    expect(tab.problems).toEqual([])
  })

  test('the browser refuses `innerHTML` and foreign requests by the policy of the page', async () => {
    await using tab = await browser.open(served.url)
    const outcomes = await tab.page.evaluate(async () => {
      const tried = async (act: () => unknown): Promise<string> => {
        try {
          await act()
          return 'done'
        } catch {
          return 'refused'
        }
      }
      const element = document.createElement('div')
      return [
        await tried(() => (element.innerHTML = '<i>markup</i>')),
        await tried(() => fetch('http://127.0.0.1:9/')),
      ]
    })
    expect(outcomes).toEqual(['refused', 'refused'])
    // What the browser refuses, the other tests of the page would see.
    expect(tab.problems.length).toBeGreaterThan(0)
  })
})
