// Access to the wallet extension of the browser, for signing in, linking keys and top-ups.

/** A browser wallet's interface. @source EIP-1193 */
type Provider = { request(call: { method: string; params?: readonly unknown[] }): Promise<unknown> }

function isProvider(value: unknown): value is Provider {
  return (
    typeof value === 'object' && value !== null && 'request' in value && typeof value.request === 'function'
  )
}

/** The object that a wallet extension sets as `window.ethereum`; undefined without an extension. */
const injected = (): unknown => Reflect.get(window, 'ethereum')

export const hasWallet = (): boolean => isProvider(injected())

function provider(): Provider {
  const candidate = injected()
  if (!isProvider(candidate)) throw new Error('This browser has no wallet.')
  return candidate
}

/** Asks the wallet for an account; its owner chooses which one this page sees. @throws Error without an account */
export async function account(): Promise<string> {
  const accounts = await provider().request({ method: 'eth_requestAccounts' })
  const first: unknown = Array.isArray(accounts) ? accounts[0] : undefined
  if (typeof first !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(first))
    throw new Error('The wallet shows no account.')
  return first
}

/** Has the wallet sign a text. @returns the signature in hex @source EIP-191 */
export async function signText(wallet: string, text: string): Promise<string> {
  const bytes = [...new TextEncoder().encode(text)]
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')
  const signature = await provider().request({ method: 'personal_sign', params: [`0x${hex}`, wallet] })
  if (typeof signature !== 'string') throw new Error('The wallet did not sign.')
  return signature
}

/** Has the wallet send a call, on the call's chain, after its owner agrees. @returns the transaction's hash */
export async function sendCall(
  wallet: string,
  call: { readonly chainId: number; readonly to: string; readonly data: string },
): Promise<string> {
  const { chainId, to, data } = call
  const walletProvider = provider()
  await walletProvider.request({
    method: 'wallet_switchEthereumChain',
    params: [{ chainId: `0x${chainId.toString(16)}` }],
  })
  const hash = await walletProvider.request({
    method: 'eth_sendTransaction',
    params: [{ from: wallet, to, data, value: '0x0' }],
  })
  if (typeof hash !== 'string') throw new Error('The wallet sent nothing.')
  return hash
}
