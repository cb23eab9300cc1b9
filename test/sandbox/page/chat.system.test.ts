/** The page in a real browser: what a person does, and what is shown beside it. */
import { afterEach, describe, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { hasBrowser, NARROW, type Tab } from '../../support/browser.ts'
import { composer, press, rowOf, usePage, write } from '../../support/page-use.ts'
import { png } from '../../support/png.ts'

describe.skipIf(!hasBrowser)('a chat on the page', () => {
  const stage = usePage()
  let tab: Tab | null = null
  const narrow: Tab[] = []
  afterEach(async () => {
    for (const one of narrow.splice(0)) await one[Symbol.asyncDispose]()
    expect(tab?.problems ?? []).toEqual([])
  })

  /** Goes to a place of the page, in the one tab of these tests. */
  async function open(place = ''): Promise<Page> {
    tab ??= await stage.open(place)
    const { page } = tab
    await page.evaluate((hash) => (location.hash = hash), place)
    await page.locator('.rows').waitFor()
    return page
  }

  async function openNarrow(): Promise<Tab> {
    const opened = await stage.open('', { viewport: NARROW })
    narrow.push(opened)
    return opened
  }

  test('a message row shows the text, the bot’s text with verdict, and the packets at the service', async () => {
    const page = await open(`#/as/alice/${stage.sandbox.home.privateChat}`)
    await write(page, 'under the third stone')
    const row = rowOf(page, 'under the third stone').first()
    await row.locator('.bot-cell .words').waitFor()
    expect(await row.locator('.bot-cell .words').textContent()).toBe('under the third stone')
    expect(await row.locator('.bot-cell .verdict').textContent()).toBe('signature verified')
    expect(await row.locator('.service-cell .packets').innerText()).toMatch(
      /PKESK v3\s+to Echo, ECDH\s+PKESK v3\s+to Alice, ECDH\s+SEIPD v1/,
    )
    expect(await row.locator('.service-cell').innerText()).not.toContain('third stone')
    await row.locator('.service-cell summary').click()
    expect(await row.locator('.service-cell pre').textContent()).toMatch(
      /^-----BEGIN PGP MESSAGE-----/,
    )
    const answer = rowOf(page, 'you said: under the third stone')
    await answer.waitFor()
    expect(await answer.locator('.person-cell .verdict').textContent()).toBe('signature verified')
    expect(await answer.locator('.bot-cell').innerText()).toMatch(/sealed to 1 recipient/)
  })

  test('the row of a group message for other members shows why the bot received nothing', async () => {
    const { encryptedGroup } = stage.sandbox.home
    const page = await open(`#/as/bob/${encryptedGroup}`)
    await write(page, 'just among us')
    const row = rowOf(page, 'just among us')
    expect(await row.locator('.bot-cell').innerText()).toMatch(/not addressed.*privacy mode/s)
  })

  test('the row of a readable group shows that the service can read the message', async () => {
    const page = await open(`#/as/bob/${stage.sandbox.home.readableGroup}`)
    await write(page, 'for everybody to read')
    const row = rowOf(page, 'for everybody to read')
    expect(await row.locator('.service-cell').innerText()).toMatch(
      /it can read this\s+for everybody to read/,
    )
  })

  test('a button switches the person, and the address and the history keep the choice', async () => {
    const page = await open(`#/as/alice/${stage.sandbox.home.encryptedGroup}`)
    await page.getByRole('button', { name: 'Bob' }).click()
    await page.getByRole('textbox', { name: 'Write as Bob' }).waitFor()
    expect(new URL(page.url()).hash).toBe(`#/as/bob/${stage.sandbox.home.encryptedGroup}`)
    await page.reload()
    await page.getByRole('textbox', { name: 'Write as Bob' }).waitFor()
    await page.goBack()
    await page.getByRole('textbox', { name: 'Write as Alice' }).waitFor()
  })

  test('a message is quoted, edited and deleted by its buttons', async () => {
    const page = await open(`#/as/alice/${stage.sandbox.home.encryptedGroup}`)
    await write(page, 'first thought')
    const row = rowOf(page, 'first thought')
    await row.hover()
    await row.getByRole('button', { name: 'Quote' }).click()
    await write(page, 'second thought')
    expect(await rowOf(page, 'second thought').locator('.quoted').innerText()).toMatch(
      /Alice\s+first thought/,
    )
    await row.hover()
    await row.getByRole('button', { name: 'Edit' }).click()
    expect(await composer(page).inputValue()).toBe('first thought')
    await composer(page).fill('better thought')
    await composer(page).press('Enter')
    const edited = rowOf(page, 'better thought').first()
    await edited.locator('.edited').waitFor()
    await edited.hover()
    await edited.getByRole('button', { name: 'Delete' }).click()
    await edited.waitFor({ state: 'detached' })
  })

  test('a pressed button shows the press and the bot’s answer', async () => {
    const { privateChat, alice } = stage.sandbox.home
    const page = await open(`#/as/alice/${privateChat}`)
    const markup = { inlineKeyboard: [[{ text: 'Open the gate', callbackData: 'open' }]] }
    const sent = await stage.call('POST', '/messages', {
      chatId: privateChat,
      text: 'Ready?',
      markup,
    })
    const row = rowOf(page, 'Ready?')
    await row.getByRole('button', { name: 'Open the gate' }).click()
    await row.locator('.bot-cell', { hasText: 'Alice pressed open' }).waitFor()
    const [, callbackId = ''] =
      /"callbackQuery":\{"id":"([^"]+)"/.exec(
        stage.traffic.list().findLast(({ answer }) => answer.includes('callbackQuery'))?.answer ??
          '',
      ) ?? []
    await stage.call('POST', `/callbacks/${callbackId}/answer`, { text: 'It creaks.' })
    await page.getByText('Echo: It creaks.').waitFor()
    await row.locator('.bot-cell', { hasText: 'answered: It creaks.' }).waitFor()
    expect([sent.status, alice.username]).toEqual([201, 'alice'])
  })

  test('an attached picture is sealed for the service and shown as a picture', async () => {
    const page = await open(`#/as/alice/${stage.sandbox.home.privateChat}`)
    await page
      .getByLabel('Attach a file')
      .setInputFiles({ name: 'stone.png', mimeType: 'image/png', buffer: png(40, 30) })
    await write(page, 'this stone')
    const row = rowOf(page, 'this stone').first()
    const picture = row.getByRole('img', { name: /^Picture/ })
    await picture.waitFor()
    await expect
      .poll(() => picture.evaluate((image) => (image as HTMLImageElement).naturalWidth))
      .toBe(40)
    expect(await row.locator('.service-cell').innerText()).toContain('a sealed file')
    await row.locator('.bot-cell', { hasText: 'a file, which it did not fetch' }).waitFor()
  })

  test('a file without text is nowhere marked as readable in an encrypted chat', async () => {
    const { home, control } = stage.sandbox
    const file = { chatId: home.encryptedGroup, base64: png(20, 20).toString('base64') }
    const { messageId } = await control.sendMedia({ ...file, userId: home.alice.id })
    for (const [handle, verdicts] of [
      ['alice', []],
      ['bob', ['signature verified']],
    ] as const) {
      const page = await open(`#/as/${handle}/${home.encryptedGroup}/${messageId}`)
      await page.reload()
      const row = page.locator(`#message-${messageId}`)
      await row.getByRole('img', { name: /^Picture/ }).waitFor()
      expect(await row.locator('.person-cell .verdict').allInnerTexts()).toEqual(verdicts)
      expect(await row.innerText()).not.toContain('readable')
    }
  })

  test('a person joins and leaves a group by buttons, and the chat shows both', async () => {
    const { sandbox } = stage
    const { bob, bot } = sandbox.home
    const room = await sandbox.control.addRoom({
      kind: 'group',
      title: 'The tower',
      members: [bob.id, bot.id],
    })
    const page = await open(`#/as/alice/${room.id}`)
    await page.getByRole('heading', { name: 'The tower' }).waitFor()
    expect(await composer(page).count()).toBe(0)
    await page.locator('.composer').getByRole('button', { name: 'Join' }).click()
    await composer(page).waitFor()
    await page.locator('.person-cell', { hasText: 'Alice joined' }).waitFor()
    await page.getByRole('button', { name: 'Leave' }).click()
    await page.getByText('Alice is not in this chat.').first().waitFor()
  })

  test('a message from elsewhere appears without a reload, and marks a chat that is not open', async () => {
    const { sandbox } = stage
    const { bob, encryptedGroup, privateChat, readableGroup } = sandbox.home
    const page = await open(`#/as/alice/${encryptedGroup}`)
    await rowOf(page, 'second thought').first().waitFor()
    await sandbox.control.write({
      userId: bob.id,
      chatId: encryptedGroup,
      text: 'from another window',
    })
    const row = rowOf(page, 'from another window')
    await row.waitFor()
    expect(await row.locator('.person-cell .verdict').textContent()).toBe('signature verified')
    await expect
      .poll(() => page.locator('[aria-live]', { hasText: 'Bob: from another window' }).count())
      .toBe(1)
    await sandbox.control.write({ userId: bob.id, chatId: readableGroup, text: 'and there' })
    const link = page.getByRole('link', { name: /Market square/ })
    await link.getByText('something new').waitFor({ state: 'attached' })
    await link.click()
    await rowOf(page, 'and there').waitFor()
    expect(await link.getByText('something new').count()).toBe(0)
    expect(privateChat).not.toBe(readableGroup)
  })

  test('the address of a message scrolls to it and focuses it', async () => {
    const { sandbox } = stage
    const { alice, bot } = sandbox.home
    const { id: chatId } = await sandbox.control.addRoom({
      kind: 'group',
      title: 'Long',
      members: [alice.id, bot.id],
    })
    for (let n = 1; n <= 30; n++) {
      await sandbox.control.write({ userId: alice.id, chatId, text: `line ${n}` })
    }
    const page = await open(`#/as/alice/${chatId}/2`)
    const row = page.locator('#message-2')
    await row.waitFor()
    await expect
      .poll(() => row.evaluate((element) => document.activeElement === element))
      .toBe(true)
    expect(await row.getAttribute('class')).toContain('target')
    const isVisible = await row.evaluate((element) => {
      const { top, bottom } = element.getBoundingClientRect()
      return top >= 0 && bottom <= innerHeight
    })
    expect(isVisible).toBe(true)
    await page.getByRole('button', { name: 'Latest' }).click()
    await page.getByRole('button', { name: 'Latest' }).waitFor({ state: 'detached' })
  })

  test('a narrow screen shows the three cells below each other, and the menu over the page', async () => {
    const { page, problems } = await openNarrow()
    const row = rowOf(page, 'under the third stone').first()
    const tops = await row
      .locator('.cell')
      .evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().top))
    expect(tops).toEqual(tops.toSorted((one, other) => one - other))
    expect(new Set(tops).size).toBe(3)
    const width = await page.evaluate(() => document.documentElement.scrollWidth)
    expect(width).toBeLessThanOrEqual(NARROW.width)
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('link', { name: 'Market square' }).click()
    await page.getByRole('heading', { name: 'Market square' }).waitFor()
    expect(await page.getByRole('link', { name: 'Back room' }).isVisible()).toBe(false)
    expect(problems).toEqual([])
  })

  test('a dialog, a quotation and a message work with the keyboard alone', async () => {
    const page = await open(`#/as/alice/${stage.sandbox.home.encryptedGroup}`)
    await page.reload()
    await rowOf(page, 'second thought').first().waitFor()
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('Skip to the content')
    await press(page, 'Enter Tab')
    await tabTo(page, /Misbehave/)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await focused(page)).toBe('Misbehave')
    await rowOf(page, 'second thought').first().focus()
    await page.keyboard.press('r')
    expect(await page.locator('.quote-line').innerText()).toContain('second thought')
    await page.keyboard.type('a third thought')
    await page.keyboard.press('Enter')
    await rowOf(page, 'a third thought').locator('.quoted').waitFor()
    await page.locator('#words:focus').waitFor()
  })

  test('`/` and `i` lead to the field and Escape back, and no typed letter is lost', async () => {
    const page = await open(`#/as/alice/${stage.sandbox.home.encryptedGroup}`)
    await page.reload()
    await rowOf(page, 'second thought').first().waitFor()
    await press(page, 'Control+i Alt+/ x')
    expect(await page.locator('#words:focus').count()).toBe(0)
    await page.getByRole('button', { name: 'Misbehave' }).focus()
    await press(page, '/ i / o Escape')
    expect(await composer(page).inputValue()).toBe('i/o')
    await press(page, 'Enter i Escape')
    await expect.poll(() => focused(page)).toBe('Misbehave')
    expect(await page.locator('dialog').count()).toBe(0)
    await press(page, 'i Control+a Delete')
    await page.locator('#words:focus').waitFor()
  })

  test('Escape ends an edit with its text, and then leaves the field', async () => {
    const page = await open(`#/as/alice/${stage.sandbox.home.encryptedGroup}`)
    await write(page, 'to be edited')
    const row = rowOf(page, 'to be edited').first()
    await row.hover()
    await row.getByRole('button', { name: 'Edit' }).click()
    expect(await composer(page).inputValue()).toBe('to be edited')
    await press(page, 'Escape')
    expect(await composer(page).inputValue()).toBe('')
    await press(page, 'Escape')
    await row.locator(':focus').waitFor()
  })

  test('Tab stops once in the people, the chats and the messages, whose arrow keys lead on', async () => {
    const page = await open(`#/as/alice/${stage.sandbox.home.privateChat}`)
    await page.reload()
    await page.locator('.row').nth(2).waitFor()
    const lists: (string | undefined)[] = []
    while ((await page.locator('#words:focus').count()) === 0) {
      await press(page, 'Tab')
      const list = () => document.activeElement?.closest('.people, .chats, .rows')?.className
      lists.push(await page.evaluate(list))
    }
    const count = (list: string) => lists.filter((one) => one === list).length
    expect([count('people'), count('chats')]).toEqual([2, 2])
    expect(count('rows')).toBeLessThan(8)
    await page.locator('.chats [aria-current]').focus()
    await press(page, 'End Home ArrowDown Enter')
    await page.getByRole('heading', { name: 'Market square' }).waitFor()
    await page.getByRole('link', { name: 'Echo' }).click()
    await page.locator('.row').nth(2).focus()
    await press(page, 'Home End Control+ArrowUp')
    await page.locator('.row:last-child:focus').waitFor()
    await press(page, 'Home Tab Escape')
    await page.locator('.row[tabindex="0"]:focus').waitFor()
    expect(await page.locator('.row[tabindex="0"]').count()).toBe(1)
  })

  test('a chat chosen in the menu of a narrow screen leaves the focus on the page', async () => {
    const { page } = await stage.open('', { viewport: NARROW })
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('link', { name: 'Back room' }).press('Enter')
    await page.locator('#main:focus').waitFor()
    await page.context().close()
  })

  const focused = (page: Page): Promise<string> =>
    page.evaluate(() => document.activeElement?.textContent?.trim() ?? '')

  async function tabTo(page: Page, name: RegExp): Promise<void> {
    await expect
      .poll(async () => {
        if (name.test(await focused(page))) return true
        await page.keyboard.press('Tab')
        return name.test(await focused(page))
      })
      .toBe(true)
  }
})
