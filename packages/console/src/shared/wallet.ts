/** A wallet that the browser has (EIP-1193). */
type Provider = { request(call: { method: string; params?: readonly unknown[] }): Promise<unknown> }

function isProvider(value: unknown): value is Provider {
  return (
    typeof value === 'object' && value !== null && 'request' in value && typeof value.request === 'function'
  )
}

/** Wallet of the browser, as its extensions put it there. */
const injected = (): unknown => Reflect.get(window, 'ethereum')

export const hasWallet = (): boolean => isProvider(injected())

/** @throws Error where the browser has none */
function provider(): Provider {
  const found = injected()
  if (!isProvider(found)) throw new Error('This browser has no wallet.')
  return found
}

/** The account that its owner lets this page see. @throws Error where there is none */
export async function account(): Promise<string> {
  const accounts = await provider().request({ method: 'eth_requestAccounts' })
  const first: unknown = Array.isArray(accounts) ? accounts[0] : undefined
  if (typeof first !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(first))
    throw new Error('The wallet shows no account.')
  return first
}

/** @returns the signature of a text (EIP-191) */
export async function signText(wallet: string, text: string): Promise<string> {
  const bytes = [...new TextEncoder().encode(text)]
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')
  const signature = await provider().request({ method: 'personal_sign', params: [`0x${hex}`, wallet] })
  if (typeof signature !== 'string') throw new Error('The wallet did not sign.')
  return signature
}

/** @returns the hash of the transaction, which the wallet asks its owner about first */
export async function sendCall(
  wallet: string,
  call: { readonly chainId: number; readonly to: string; readonly data: string },
): Promise<string> {
  const { chainId, to, data } = call
  const wallets = provider()
  await wallets.request({
    method: 'wallet_switchEthereumChain',
    params: [{ chainId: `0x${chainId.toString(16)}` }],
  })
  const hash = await wallets.request({
    method: 'eth_sendTransaction',
    params: [{ from: wallet, to, data, value: '0x0' }],
  })
  if (typeof hash !== 'string') throw new Error('The wallet sent nothing.')
  return hash
}
