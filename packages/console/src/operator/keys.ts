import { type Answer, FieldError, listOf, textOf, timeText } from '../shared/answers.ts'
import {
  announce,
  copyable,
  copyButton,
  element,
  facts,
  fieldOf,
  foreign,
  forgive,
  found,
  moveFocus,
  offer,
  onPress,
  onSend,
  renew,
  show,
  table,
  visible,
} from '../shared/elements.ts'
import { account, hasWallet, signText } from '../shared/wallet.ts'

type Asking = {
  readonly admin: (path: string, body?: object) => Promise<Answer>
  /** Shows the list anew. */
  readonly reload: () => Promise<void>
}

/** A challenge whose text a wallet signs, good for one try. */
type Challenge = { readonly id: string; readonly wallet: string; readonly nonce: string }

/** The text that is to be signed elsewhere, until it is linked or another text is asked for. */
let challenge: Challenge | undefined

/** The list, and the keys to choose from: all of them, or those that work. */
export function showKeys(keys: Answer): void {
  const listed = listOf(keys, 'keys')
  renew('keys', keysView(listed))
  const choices = (some: readonly Answer[]) =>
    some.map((key) => {
      const id = textOf(key, 'id')
      return [id, `${id} ${visible(textOf(key, 'label'))}`] as const
    })
  for (const id of ['policy-key', 'explain-key']) offer(id, choices(listed))
  const active = choices(listed.filter((key) => textOf(key, 'status') === 'active'))
  for (const id of ['link-key', 'revoke-key']) offer(id, active)
}

/** Nothing of keys stays on the page, above all no text of one. */
export function forgetKeys(): void {
  for (const id of ['keys', 'policy-key', 'explain-key', 'link-key', 'revoke-key', 'issued']) show(id)
  endLinking()
}

function endLinking(): void {
  challenge = undefined
  show('link-text')
  forgive('signed-form')
  found('signed-form', HTMLFormElement).reset()
  found('signed-form', HTMLFormElement).hidden = true
}

const at = (id: string, path: string) => `keys/${encodeURIComponent(id)}/${path}`

/** The forms that make, link and end keys. */
export function listenForKeys({ admin, reload }: Asking): void {
  onSend(
    'create-form',
    async (fields) => {
      show('issued')
      const issued = await admin('keys', { label: fieldOf(fields, 'label') })
      found('create-form', HTMLFormElement).reset()
      show('issued', issuedView(issued))
      await reload()
      return `Key ${textOf(issued, 'id')} is made. Keep its text now: it is not shown again.`
    },
    'issued',
  )

  listenForLinks({ admin, reload })

  onSend('revoke-form', async (fields) => {
    const id = fieldOf(fields, 'id')
    if (fieldOf(fields, 'again') !== id)
      throw new FieldError('again', `It ends for good: type ${id} to say that you mean it.`)
    await admin(at(id, 'revoke'), {})
    found('revoke-form', HTMLFormElement).reset()
    await reload()
    return `Key ${id} is revoked: every process refuses it within 5 seconds.`
  })
}

/** A key is linked by a wallet in the browser, or by a text that is signed elsewhere. */
function listenForLinks({ admin, reload }: Asking): void {
  const textFor = async (id: string, wallet: string) => {
    const asked = await admin(at(id, 'link-text'), { wallet })
    return { asked: { id, wallet, nonce: textOf(asked, 'nonce') }, text: asked }
  }
  const link = async ({ id, wallet, nonce }: Challenge, signature: string) => {
    await admin(at(id, 'link-wallet'), { wallet, nonce, signature })
    await reload()
    return `${visible(wallet)} pays for ${id} from now on.`
  }

  found('link-browser', HTMLButtonElement).hidden = !hasWallet()
  onPress('link-browser', async () => {
    endLinking()
    const id = found('link-key', HTMLSelectElement).value
    const { asked, text } = await textFor(id, await account())
    announce('Sign the text in your wallet.')
    return link(asked, await signText(asked.wallet, textOf(text, 'message')))
  })

  onSend('link-form', async (fields) => {
    endLinking()
    const { asked, text } = await textFor(fieldOf(fields, 'id'), fieldOf(fields, 'wallet'))
    challenge = asked
    const message = textOf(text, 'message')
    show(
      'link-text',
      element('pre', { tabindex: '0', 'aria-label': 'Text to sign' }, message),
      copyButton(message, 'text to sign'),
    )
    found('signed-form', HTMLFormElement).hidden = false
    return `The owner of the wallet signs this text (personal_sign) until ${timeText(textOf(text, 'expiresAt'))}.`
  })

  onSend('signed-form', async (fields) => {
    if (challenge === undefined) throw new Error('Make the text first.')
    const asked = challenge
    const signature = fieldOf(fields, 'signature')
    if (!/^0x[0-9a-fA-F]+$/.test(signature))
      throw new FieldError('signature', 'A signature is hex behind 0x.')
    // A text is good for one try, whatever comes of it.
    endLinking()
    moveFocus('keys-title')
    return link(asked, signature)
  })
}

/** The text of a new key: gone with the first press of the button, or with the page. */
function issuedView(issued: Answer): HTMLElement {
  const done = element('button', { type: 'button' }, 'I have kept it')
  done.addEventListener('click', () => {
    show('issued')
    moveFocus('keys-title')
  })
  const shown = element('span', { class: 'secret' }, element('code', {}, textOf(issued, 'apiKey')))
  return element(
    'div',
    { class: 'notice' },
    facts([
      ['Key', element('code', {}, textOf(issued, 'id'))],
      ['Label', foreign(textOf(issued, 'label'))],
      ['Text of the key, shown once', shown],
    ]),
    copyButton(textOf(issued, 'apiKey'), 'text of the key'),
    done,
  )
}

function keysView(keys: readonly Answer[]): HTMLElement {
  const rows = keys.map((key) => [
    element('code', {}, textOf(key, 'id')),
    foreign(textOf(key, 'label')),
    textOf(key, 'status'),
    copyable(textOf(key, 'wallet'), `wallet of ${textOf(key, 'id')}`),
    timeText(textOf(key, 'createdAt')),
  ])
  return table('API keys', ['Id', 'Label', 'Status', 'Wallet', 'Created'], rows, 'There are no keys.')
}
