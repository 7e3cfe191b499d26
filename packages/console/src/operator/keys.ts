import { type Answer, FieldError, listOf, textOf, timeText } from '../shared/answers.ts'
import {
  announce,
  clearProblem,
  copyable,
  copyButton,
  element,
  elementById,
  factList,
  fieldOf,
  foreign,
  moveFocus,
  onPress,
  onSend,
  refreshContent,
  safeText,
  setChoices,
  setContent,
  table,
} from '../shared/elements.ts'
import { account, hasWallet, signText } from '../shared/wallet.ts'

// Section of the operator's page for API keys: the list, and forms that create, link and revoke keys. Linking makes a
// wallet the sponsor of a key; its owner signs a text for it.

type PageAccess = {
  readonly admin: (path: string, body?: object) => Promise<Answer>
  /** Loads the whole page again. */
  readonly reload: () => Promise<void>
}

/** A request to link key `id` to a wallet. The nonce belongs to the text to sign, and is valid for one attempt. */
type Challenge = { readonly id: string; readonly wallet: string; readonly nonce: string }

/** Challenge whose text is shown to be signed outside of this browser, until it is used or replaced. */
let challenge: Challenge | undefined

/** Shows the list of keys, and fills the forms' choices: all keys to look up, active keys to link or revoke. */
export function showKeys(keys: Answer): void {
  const listed = listOf(keys, 'keys')
  refreshContent('keys', keysView(listed))
  for (const id of ['policy-key', 'explain-key']) setChoices(id, listed.map(choiceOf))
  const active = listed.filter((key) => textOf(key, 'status') === 'active')
  for (const id of ['link-key', 'revoke-key']) setChoices(id, active.map(choiceOf))
}

/** A choice of a select field: the key's id, and its id with its label to show. */
function choiceOf(key: Answer): readonly [string, string] {
  const id = textOf(key, 'id')
  return [id, `${id} ${safeText(textOf(key, 'label'))}`]
}

/** Removes everything about keys from the page when the operator leaves, above all the text of a new key. */
export function forgetKeys(): void {
  for (const id of ['keys', 'policy-key', 'explain-key', 'link-key', 'revoke-key', 'issued']) setContent(id)
  endLinking()
}

function endLinking(): void {
  challenge = undefined
  setContent('link-text')
  clearProblem('signed-form')
  elementById('signed-form', HTMLFormElement).reset()
  elementById('signed-form', HTMLFormElement).hidden = true
}

const keyPath = (id: string, action: string) => `keys/${encodeURIComponent(id)}/${action}`

/** Connects the forms that create, link and revoke keys. */
export function listenForKeys({ admin, reload }: PageAccess): void {
  onSend(
    'create-form',
    async (fields) => {
      setContent('issued')
      const issued = await admin('keys', { label: fieldOf(fields, 'label') })
      elementById('create-form', HTMLFormElement).reset()
      setContent('issued', issuedView(issued))
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
    // A body, though empty, makes the request a POST.
    await admin(keyPath(id, 'revoke'), {})
    elementById('revoke-form', HTMLFormElement).reset()
    await reload()
    return `Key ${id} is revoked: every process refuses it within 5 seconds.`
  })
}

/** Two ways to link a key: the browser's wallet signs at once, or the text is shown and signed elsewhere. */
function listenForLinks({ admin, reload }: PageAccess): void {
  const requestChallenge = async (id: string, wallet: string) => {
    const text = await admin(keyPath(id, 'link-text'), { wallet })
    return { requested: { id, wallet, nonce: textOf(text, 'nonce') }, text }
  }
  const link = async ({ id, wallet, nonce }: Challenge, signature: string) => {
    await admin(keyPath(id, 'link-wallet'), { wallet, nonce, signature })
    await reload()
    return `${safeText(wallet)} pays for ${id} from now on.`
  }

  elementById('link-browser', HTMLButtonElement).hidden = !hasWallet()
  onPress('link-browser', async () => {
    endLinking()
    const id = elementById('link-key', HTMLSelectElement).value
    const { requested, text } = await requestChallenge(id, await account())
    announce('Sign the text in your wallet.')
    return link(requested, await signText(requested.wallet, textOf(text, 'message')))
  })

  onSend('link-form', async (fields) => {
    endLinking()
    const { requested, text } = await requestChallenge(fieldOf(fields, 'id'), fieldOf(fields, 'wallet'))
    challenge = requested
    const message = textOf(text, 'message')
    setContent(
      'link-text',
      element('pre', { tabindex: '0', 'aria-label': 'Text to sign' }, message),
      copyButton(message, 'text to sign'),
    )
    elementById('signed-form', HTMLFormElement).hidden = false
    return `The owner of the wallet signs this text (personal_sign) until ${timeText(textOf(text, 'expiresAt'))}.`
  })

  onSend('signed-form', async (fields) => {
    if (challenge === undefined) throw new Error('Make the text first.')
    const signedChallenge = challenge
    const signature = fieldOf(fields, 'signature')
    if (!/^0x[0-9a-fA-F]+$/.test(signature))
      throw new FieldError('signature', 'A signature is hex behind 0x.')
    // The nonce is used up even if the service refuses the signature.
    endLinking()
    moveFocus('keys-title')
    return link(signedChallenge, signature)
  })
}

/** Shows the text of a new key until the operator confirms to have kept it. The service cannot show it again. */
function issuedView(issued: Answer): HTMLElement {
  const done = element('button', { type: 'button' }, 'I have kept it')
  done.addEventListener('click', () => {
    setContent('issued')
    moveFocus('keys-title')
  })
  const keyText = element('span', { class: 'secret' }, element('code', {}, textOf(issued, 'apiKey')))
  return element(
    'div',
    { class: 'notice' },
    factList([
      ['Key', element('code', {}, textOf(issued, 'id'))],
      ['Label', foreign(textOf(issued, 'label'))],
      ['Text of the key, shown once', keyText],
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
