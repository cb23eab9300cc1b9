/** The page for everybody: axe-core finds nothing, wide and narrow, in light and dark. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { hasBrowser, NARROW, WIDE, type PageLook } from '../../support/browser.ts'
import { usePage } from '../../support/page-use.ts'
import { png } from '../../support/png.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const LOOKS: [string, PageLook][] = [
  ['wide and light', { viewport: WIDE, colorScheme: 'light' }],
  ['narrow and dark', { viewport: NARROW, colorScheme: 'dark' }],
]
const DIALOGS = ['person', 'bot', 'chat', 'members', 'lies']

describe.skipIf(!hasBrowser)('the page for everybody', () => {
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

  test.each(LOOKS)('every view and dialog, %s', { timeout: 60_000 }, async (_name, look) => {
    const { privateChat, encryptedGroup } = stage.sandbox.home
    await using tab = await stage.open(`#/as/alice/${privateChat}`, look)
    const { page, problems } = tab
    await page.locator('.row.refused').waitFor()
    await page.getByRole('img', { name: /^Picture/ }).waitFor()
    // Playwright's own evaluation is not under the policy of the page.
    await page.evaluate(AXE)
    expect(await findings(page)).toEqual([])
    for (const place of [
      `#/as/bob/${privateChat}`,
      `#/as/alice/${encryptedGroup}`,
      '#/world',
      '#/activity',
    ]) {
      await page.evaluate((hash) => (location.hash = hash), place)
      await page.locator('.chat, .world, .activity').first().waitFor()
      await expect.poll(() => page.title()).not.toContain('Loading')
      expect([place, await findings(page)]).toEqual([place, []])
    }
    for (const kind of DIALOGS) {
      await openDialog(page, kind, encryptedGroup)
      expect([kind, await findings(page)]).toEqual([kind, []])
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    expect(problems).toEqual([])
  })

  async function openDialog(page: Page, kind: string, chatId: number): Promise<void> {
    const isNarrow = await page.getByRole('button', { name: 'Menu' }).isVisible()
    const isChat = kind === 'members' || kind === 'lies'
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
