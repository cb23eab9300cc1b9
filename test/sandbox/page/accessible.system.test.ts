/**
 * The page for everybody: axe-core finds nothing in any view at three widths in both colours, every
 * word has contrast, reduced motion is respected, and the accessibility tree is in reading order.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { hasBrowser, NARROW, WIDE, type PageLook } from '../../support/browser.ts'
import { usePage } from '../../support/page-use.ts'
import { png } from '../../support/png.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const MEDIUM = { width: 900, height: 800 }
const LOOKS: [string, PageLook][] = (['light', 'dark'] as const).flatMap((colorScheme) => [
  [`wide and ${colorScheme}`, { viewport: WIDE, colorScheme }],
  [`medium and ${colorScheme}`, { viewport: MEDIUM, colorScheme }],
  [`narrow and ${colorScheme}`, { viewport: NARROW, colorScheme }],
])
const DIALOGS = ['person', 'bot', 'chat', 'members', 'lies', 'save']
/** Of WCAG 2.2, 1.4.3: for words, and for large ones. */
const CONTRAST = { usual: 4.5, large: 3 }

describe.skipIf(!hasBrowser)('the accessibility of the page', () => {
  const stage = usePage()
  beforeAll(async () => {
    const { control, home } = stage.sandbox
    const dm = { userId: home.alice.id, chatId: home.privateChat }
    const { messageId } = await control.write({ ...dm, text: 'hello' })
    await (await stage.sandbox.phone(home.alice.id)).seen(({ text }) => text.includes('hello'))
    await control.write({ ...dm, text: 'again', replyTo: messageId })
    await control.sendMedia({ ...dm, base64: png(20, 20).toString('base64') })
    await control.editMessage({ ...dm, messageId, text: 'hello, edited' })
    const markup = { inlineKeyboard: [[{ text: 'Press', callbackData: 'x' }]] }
    await stage.call('POST', '/messages', { chatId: home.privateChat, text: 'buttons', markup })
    await stage.call('POST', '/messages', { chatId: home.privateChat })
  })

  test.each(LOOKS)(
    'axe finds nothing in any view or dialog of the page, and all text has contrast: %s',
    { timeout: 120_000 },
    async (_name, look) => {
      const { privateChat, encryptedGroup } = stage.sandbox.home
      await using tab = await stage.open(`#/as/alice/${privateChat}`, look)
      const { page, problems } = tab
      await page.locator('.row.refused').waitFor()
      await page.getByRole('img', { name: /^Picture/ }).waitFor()
      // Playwright's own evaluation is not under the policy of the page.
      await page.evaluate(AXE)
      expect(await findings(page)).toEqual([])
      expect(await faint(page)).toEqual([])
      const call = page.locator('.call', { hasText: /POST \/messages\s*201/ }).first()
      for (const place of [
        `#/as/bob/${privateChat}`,
        `#/as/alice/${encryptedGroup}`,
        '#/world',
        '#/activity',
        '#/activity/chosen',
      ]) {
        const isChosen = place === '#/activity/chosen'
        if (isChosen) await call.click()
        else await page.evaluate((hash) => (location.hash = hash), place)
        await page
          .locator(isChosen ? '.call-detail' : '.chat, .world, .activity')
          .first()
          .waitFor()
        await expect.poll(() => page.title()).not.toContain('Loading')
        expect([place, await findings(page)]).toEqual([place, []])
        expect([place, await faint(page)]).toEqual([place, []])
      }
      for (const kind of DIALOGS) {
        await openDialog(page, kind, encryptedGroup)
        expect([kind, await findings(page)]).toEqual([kind, []])
        expect([kind, await faint(page)]).toEqual([kind, []])
        await page.keyboard.press('Escape')
        await page.getByRole('dialog').waitFor({ state: 'detached' })
      }
      expect(problems).toEqual([])
    },
  )

  test('the page runs no animation under `prefers-reduced-motion`', async () => {
    await using tab = await stage.open(`#/as/alice/${stage.sandbox.home.privateChat}`)
    const { page } = tab
    const moving = async (): Promise<number> => {
      await stage.call('POST', `/chats/${stage.sandbox.home.privateChat}/typing`, { typing: true })
      await page.locator('.typing').waitFor()
      return await page.evaluate(
        () => document.getAnimations().filter(({ playState }) => playState === 'running').length,
      )
    }
    expect(await moving()).toBeGreaterThan(0)
    await page.emulateMedia({ reducedMotion: 'reduce' })
    expect(await moving()).toBe(0)
    for (const place of ['#/world', '#/activity']) {
      await page.evaluate((hash) => (location.hash = hash), place)
      expect(await page.evaluate(() => document.getAnimations().length)).toBe(0)
    }
  })

  test('a chat and a call have the expected accessibility tree', async () => {
    const { encryptedGroup } = stage.sandbox.home
    await using tab = await stage.open(`#/as/bob/${encryptedGroup}`)
    const { page } = tab
    const read = async (): Promise<string> =>
      (await page.locator('body').ariaSnapshot())
        .replaceAll(/\d\d:\d\d(?::\d\d)?/g, 'TIME')
        .replaceAll(/\b\d+ \w+ \d{4}, TIME/g, 'DATE')
    await page.getByRole('textbox', { name: /^Write as Bob/ }).waitFor()
    await page.locator('.side').getByText('Sidecar ready').waitFor()
    await expect(await read()).toMatchFileSnapshot('chat.aria.txt')
    await page.evaluate(() => (location.hash = '#/activity'))
    await page.getByRole('searchbox').fill('buttons')
    await page.locator('.call').last().click()
    const outline = (await page.locator('.activity').ariaSnapshot())
      .split('\n')
      .filter((line) => /^ *- (?:heading|searchbox|combobox|checkbox|button|listbox)/.test(line))
      .map((line) => line.trim().replaceAll(/ \[(?:selected|checked)\]|:$/g, ''))
    expect(outline).toEqual([
      '- heading "Activity" [level=1]',
      '- searchbox "Search in the calls": buttons',
      '- combobox "Who"',
      '- combobox "Route"',
      '- combobox "Status"',
      '- checkbox "errors only"',
      '- checkbox "without idle polls and /me"',
      '- button "Show all"',
      '- button "Save 0 marked as a test" [disabled]',
      '- listbox "Calls, the newest first"',
      '- heading "POST /messages 201" [level=2]',
      '- button "Back to the calls"',
      '- button "Mark"',
      '- button "Copy link"',
      '- button "Whole texts"',
      '- heading "Echo → sidecar" [level=3]',
      '- button "Copy as curl"',
      '- button "Send again to the sidecar"',
      '- heading "sidecar → service" [level=3]',
      '- button "Copy as curl"',
      '- button "Send again to the service, as the bot"',
      '- heading "request" [level=4]',
      '- heading "request" [level=4]',
      '- heading "answer" [level=4]',
      '- heading "answer" [level=4]',
    ])
  })

  /** Words with less contrast than WCAG requires, as the browser paints them; disabled ones excepted. */
  async function faint(page: Page): Promise<string[]> {
    return await page.evaluate(({ usual, large }) => {
      const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })
      if (canvas === null) return ['no canvas']
      /** Paints colours over each other; gives red, green and blue. */
      const paint = (colours: string[]): number[] => {
        canvas.clearRect(0, 0, 1, 1)
        for (const colour of colours) {
          canvas.fillStyle = colour
          canvas.fillRect(0, 0, 1, 1)
        }
        return Array.from(canvas.getImageData(0, 0, 1, 1).data.subarray(0, 3))
      }
      const luminance = (rgb: number[]): number => {
        const [red = 0, green = 0, blue = 0] = rgb.map((part) => {
          const value = part / 255
          return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
        })
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue
      }
      const found = new Set<string>()
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
      for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
        const element = node.parentElement
        if (element === null || node.textContent?.trim() === '') continue
        if (!element.checkVisibility({ opacityProperty: true })) continue
        if (element.closest(':disabled, .hidden, option, script, noscript') !== null) continue
        const style = getComputedStyle(element)
        const behind: string[] = []
        for (let at: Element | null = element; at !== null; at = at.parentElement) {
          behind.unshift(getComputedStyle(at).backgroundColor)
          if (at instanceof HTMLDialogElement) break
        }
        const [ink, paper] = [[...behind, style.color], behind].map((all) => luminance(paint(all)))
        const [dark = 0, light = 0] = [ink ?? 0, paper ?? 0].sort((one, other) => one - other)
        const ratio = (light + 0.05) / (dark + 0.05)
        const size = Number.parseFloat(style.fontSize)
        const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700)
        if (ratio < (isLarge ? large : usual) - 0.005) {
          found.add(
            `${ratio.toFixed(2)}: ${element.className} ${node.textContent?.trim().slice(0, 40)}`,
          )
        }
      }
      return [...found]
    }, CONTRAST)
  }

  async function openDialog(page: Page, kind: string, chatId: number): Promise<void> {
    const isNarrow = await page.getByRole('button', { name: 'Menu' }).isVisible()
    const isChat = kind === 'members' || kind === 'lies' || kind === 'save'
    await page.evaluate(
      (hash) => (location.hash = hash),
      isChat ? `#/as/alice/${chatId}` : '#/world',
    )
    const name = {
      person: 'New person',
      bot: 'New bot',
      chat: 'New chat',
      members: /members$/,
      lies: 'Misbehave',
      save: 'Save as a test',
    }
    const button = page
      .getByRole('button', { name: name[kind as keyof typeof name] })
      .locator('visible=true')
    await page.locator(isChat ? '.chat' : '.world').waitFor()
    if (kind === 'chat' && isNarrow) await page.getByRole('button', { name: 'Menu' }).click()
    await button.first().click()
    await page.getByRole('dialog').waitFor()
  }

  interface Finding {
    id: string
    nodes: { html: string; failureSummary: string }[]
  }

  /** What axe-core finds, in a few words each. */
  async function findings(page: Page): Promise<string[]> {
    const violations = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as {
        axe: { run(options: object): Promise<{ violations: Finding[] }> }
      }
      return (await axe.run({ resultTypes: ['violations'] })).violations
    })
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 120)} ${failureSummary}`),
    )
  }
})
