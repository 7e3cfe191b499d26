// Read-only questions to endpoints of families that no run pays on: they need no account.
import { ConfigurationError } from '@causeway/core'
import { splitList } from '@causeway/core/config'

const timeoutMs = 60_000

type Ask = (method: 'GET' | 'POST', path: string, body?: object) => Promise<unknown>

const rpc = (method: string, params: readonly unknown[]) => ({ jsonrpc: '2.0', id: 1, method, params })

/** By family. */
const readings: Readonly<Record<string, (ask: Ask) => Promise<void>>> = {
  async 'solana-vm'(ask) {
    const finalized = { commitment: 'finalized' }
    const slot = Object(await ask('POST', '/', rpc('getSlot', [finalized])))['result']
    const shown = { encoding: 'json', transactionDetails: 'full', rewards: false }
    await ask(
      'POST',
      '/',
      rpc('getBlock', [slot, { ...finalized, ...shown, maxSupportedTransactionVersion: 1 }]),
    )
    await ask('POST', '/', rpc('getLatestBlockhash', [finalized]))
  },
  async 'bitcoin-vm'(ask) {
    const height = await ask('GET', '/blocks/tip/height')
    const hash = await ask('GET', `/block-height/${height}`)
    await ask('GET', `/block/${hash}/header`)
  },
  async 'tron-vm'(ask) {
    await ask('POST', '/wallet/getblock', { detail: false })
    await ask('POST', '/walletsolidity/getblock', { detail: false })
    await ask('POST', '/wallet/getchainparameters', {})
  },
  async 'hyperliquid-vm'(ask) {
    await ask('POST', '/info', { type: 'spotMeta' })
  },
  async 'lighter-vm'(ask) {
    await ask('GET', '/')
    await ask('GET', '/api/v1/assetDetails')
  },
}

export type FamilyEndpoint = { readonly family: string; readonly url: string }

/** `family=url` joined by commas. @throws ConfigurationError naming the entry that is none, and no URL */
export function parseFamilyEndpoints(text: string | undefined): readonly FamilyEndpoint[] {
  return splitList(text, ',').map((entry, index) => {
    const [family = '', ...rest] = entry.split('=')
    const url = rest.join('=')
    if (readings[family] !== undefined && URL.canParse(url)) return { family, url }
    const readingNames = Object.keys(readings).join(', ')
    throw new ConfigurationError(
      `FIELD_READ_URLS: entry ${index + 1} is not family=url, with one of ${readingNames}.`,
    )
  })
}

/** Asks them at `url`, which records what comes. @throws Error with the first status that is none of success */
export async function readFamily(family: string, url: string): Promise<void> {
  await readings[family]?.(async (method, path, body) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeoutMs),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${family} answers ${path} with status ${response.status}`)
    try {
      return JSON.parse(text)
    } catch {
      return text.trim()
    }
  })
}
