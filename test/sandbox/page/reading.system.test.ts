/** Reading on the page: what one wrote is in sight, what is new counts, and nothing is covered. */
import { describe, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { hasBrowser, NARROW, WIDE } from '../../support/browser.ts'
import { rowOf, usePage, write } from '../../support/page-use.ts'

const WIDTHS = [WIDE, { width: 900, height: 800 }, NARROW]

describe.skipIf(!hasBrowser)('scrolling and notices on the page', () => {
  const stage = usePage()

  /** A chat of Alice's with so many lines. */
  async function longChat(title: string, lines: number): Promise<number> {
    const { control, home } = stage.sandbox
    const members = [home.alice.id, home.bob.id]
    const { id: chatId } = await control.addRoom({ kind: 'group', title, members })
    for (let n = 1; n <= lines; n++) {
      await control.write({ userId: home.alice.id, chatId, text: `line ${n}` })
    }
    return chatId
  }

  const isInSight = (page: Page, words: string): Promise<boolean> =>
    rowOf(page, words)
      .last()
      .evaluate((row) => {
        const { top, bottom } = row.getBoundingClientRect()
        const frame = row.closest('.scroller')?.getBoundingClientRect()
        return frame !== undefined && top >= frame.top && bottom <= frame.bottom + 1
      })

  test('no view has a second scrollbar, at any width', async () => {
    const chatId = await longChat('Scrolled', 20)
    for (const viewport of WIDTHS) {
      await using tab = await stage.open(`#/as/alice/${chatId}`, { viewport })
      for (const place of [`#/as/alice/${chatId}`, '#/world', '#/activity']) {
        await tab.page.evaluate((hash) => (location.hash = hash), place)
        await tab.page.locator('.chat, .world, .activity').first().waitFor()
        const room = await tab.page.evaluate(() => {
          const { scrollHeight, clientHeight, scrollWidth, clientWidth } = document.documentElement
          return [scrollHeight - clientHeight, scrollWidth - clientWidth]
        })
        expect([place, viewport.width, ...room]).toEqual([place, viewport.width, 0, 0])
      }
    }
  })

  test('an own message scrolls into view, and "Latest" counts the messages of others', async () => {
    const { control, home } = stage.sandbox
    const chatId = await longChat('Long', 40)
    await using tab = await stage.open(`#/as/alice/${chatId}/2`)
    const { page } = tab
    const latest = page.getByRole('button', { name: /^Latest/ })
    await latest.waitFor()
    expect(await latest.innerText()).toBe('Latest')
    for (const text of ['first of Bob', 'second of Bob']) {
      await control.write({ userId: home.bob.id, chatId, text })
    }
    await expect.poll(() => latest.innerText()).toMatch(/Latest\s+2 new/)
    await write(page, 'mine, at last')
    await expect.poll(() => isInSight(page, 'mine, at last')).toBe(true)
    await latest.waitFor({ state: 'detached' })
  })

  test('a notice covers neither the page nor a dialog', async () => {
    const { home } = stage.sandbox
    for (const viewport of WIDTHS) {
      await using tab = await stage.open(`#/as/alice/${home.privateChat}`, { viewport })
      const { page } = tab
      await page.evaluate(() => (location.hash = '#/world'))
      const alice = page.locator('.accounts li').filter({ hasText: '@alice' })
      const before = await alice.locator('.fingerprint').innerText()
      await alice.getByRole('button', { name: 'New key' }).click()
      const notice = page.locator('.notice', { hasText: 'Alice has a new key, ending in' }).last()
      await notice.waitFor()
      expect(await notice.innerText()).toContain(before.slice(-9))
      const place = await notice.evaluate((element) => element.getBoundingClientRect().toJSON())
      const main = await page
        .locator('main')
        .evaluate((one) => one.getBoundingClientRect().toJSON())
      expect((place as DOMRect).top).toBeGreaterThanOrEqual((main as DOMRect).bottom - 1)
      await page.getByRole('button', { name: 'New person' }).locator('visible=true').first().click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Name').fill('Alice')
      await dialog.getByLabel('Handle').fill('alice')
      await page.keyboard.press('Enter')
      await dialog.locator('.notice.problem').waitFor()
    }
  })

  test('a line with the date separates the messages of two days', async () => {
    const { control } = stage.sandbox
    const chatId = await longChat('Days', 2)
    await control.advance({ ms: 24 * 60 * 60_000 })
    await using tab = await stage.open(`#/as/alice/${chatId}`)
    await write(tab.page, 'the day after')
    const days = await tab.page.locator('.rows .day').allInnerTexts()
    expect(days).toHaveLength(2)
    expect(days[0]).toMatch(/^\w+, \d+ \w+ \d{4}$/)
    expect(new Set(days).size).toBe(2)
    const lines = await tab.page
      .locator('.rows > li')
      .evaluateAll((all) => all.map((one) => one.className))
    expect(lines.map((one) => one.trim())).toEqual(['day', 'row', 'row', 'day', 'row'])
  })
})
