// Takes transfers as the exchange does: the account is whoever signed the action, each of its nonces counts once and within
// days, and balances decide. Somebody's first transfer makes his account, and a dollar of it stays with the exchange.
import { type Hex, parseDecimal, type SendAsset, sendAssetType } from '@causeway/core'
import { keccak256, recoverTypedDataAddress, toHex } from 'viem'
import type { ListedToken, ListedTransaction } from './hyperliquidExchange.ts'

export type HyperliquidVenue = {
  /** Unix milliseconds. */
  nowMs: () => number
  /** Smallest units. @param part empty for the perps account, or a token's id */
  held(account: string, part: string): bigint
  fund(account: string, held: Readonly<Record<string, bigint>>): void
  /** @returns why it is refused; undefined where it was executed */
  take(body: Readonly<Record<string, unknown>>): Promise<string | undefined>
  /** Executes what another run took. */
  repeat(transfer: TakenTransfer): void
}

/** A transfer that was executed: who signed it, what is signed, and when. */
export type TakenTransfer = { readonly user: string; readonly timeMs: number; readonly action: SignedAsset }

const dayMs = 86_400_000
/** The exchange remembers so many of an account, and takes none below them. @source Hyperliquid documentation, "Nonces" */
const noncesKept = 100
const accountFee = 100_000_000n

const members = [
  ...[
    'hyperliquidChain',
    'destination',
    'sourceDex',
    'destinationDex',
    'token',
    'amount',
    'fromSubAccount',
  ].map((name) => ({ name, type: 'string' })),
  { name: 'nonce', type: 'uint64' },
]

/**
 * @param ledger where what was executed is listed
 * @param onTaken told of each transfer before whoever sent it
 */
export function createHyperliquidVenue(
  ledger: {
    readonly transactions: ListedTransaction[]
    readonly tokens: readonly ListedToken[]
    readonly accounts: Set<string>
  },
  onTaken: (transfer: TakenTransfer) => void = () => undefined,
): HyperliquidVenue {
  const balances = new Map<string, bigint>()
  const nonces = new Map<string, number[]>()
  const keyOf = (account: string, part: string) => `${account.toLowerCase()} ${part}`
  const add = (account: string, part: string, amount: bigint) =>
    void balances.set(keyOf(account, part), (balances.get(keyOf(account, part)) ?? 0n) + amount)
  const venue: HyperliquidVenue = {
    nowMs: () => Date.now(),
    held: (account, part) => balances.get(keyOf(account, part)) ?? 0n,
    fund(account, held) {
      ledger.accounts.add(account.toLowerCase())
      for (const [part, amount] of Object.entries(held)) add(account, part, amount)
    },
    async take(body) {
      const { action, nonce, signature } = body
      const parts = Object(action)
      if (parts.type !== 'sendAsset' || parts.nonce !== nonce) return 'unknown action'
      const user = await signerOf(parts, Object(signature))
      const refusal = refuseNonce(user, Number(nonce)) ?? refuseMove(user, parts)
      if (refusal !== undefined) return refusal
      const taken = { user, timeMs: venue.nowMs(), action: parts }
      execute(taken)
      onTaken(taken)
      return undefined
    },
    repeat: execute,
  }

  function refuseNonce(user: string, nonce: number): string | undefined {
    const now = venue.nowMs()
    const used = nonces.get(user) ?? []
    if (used.includes(nonce)) return 'Invalid nonce: duplicate nonce'
    if (used.length === noncesKept && nonce < (used.at(-1) ?? 0)) return 'Invalid nonce: too low'
    const isNear = nonce > now - 2 * dayMs && nonce < now + dayMs
    return isNear ? undefined : 'Invalid nonce: out of range'
  }

  function partOf(dex: string, token: string): { part: string; decimals: number } | undefined {
    const tokenId = token.split(':')[1] ?? ''
    const listed = ledger.tokens.find((one) => one.tokenId === tokenId && token.startsWith(`${one.name}:`))
    if (listed === undefined) return undefined
    return dex === '' ? { part: '', decimals: 8 } : { part: tokenId, decimals: listed.szDecimals }
  }

  function refuseMove(
    user: string,
    { sourceDex, token, amount, destination }: SignedAsset,
  ): string | undefined {
    const from = partOf(sourceDex, token)
    const units = from && parseDecimal(amount, from.decimals)
    if (from === undefined || units === undefined || units === 0n) return 'Invalid amount'
    // Perps accounts are counted in millionths of a dollar.
    if (from.part === '' && units % 100n !== 0n) return 'Invalid amount: too many decimals'
    if (!ledger.accounts.has(user)) return 'Must deposit before performing actions'
    if (venue.held(user, from.part) < units) return 'Insufficient balance'
    return /^0x[0-9a-fA-F]{40}$/.test(destination) ? undefined : 'Invalid destination'
  }

  function execute({ user, timeMs, action: parts }: TakenTransfer): void {
    const used = [...(nonces.get(user) ?? []), parts.nonce].toSorted((one, other) => other - one)
    nonces.set(user, used.slice(0, noncesKept))
    const { sourceDex, destinationDex, token, amount } = parts
    const [from, to] = [partOf(sourceDex, token), partOf(destinationDex, token)]
    if (from === undefined || to === undefined) throw new Error('it was judged before')
    const units = parseDecimal(amount, from.decimals) ?? 0n
    const destination = parts.destination.toLowerCase()
    const fee = ledger.accounts.has(destination) ? 0n : accountFee
    ledger.accounts.add(destination)
    add(user, from.part, -units)
    add(destination, to.part, units > fee ? units - fee : 0n)
    const hash = keccak256(toHex(JSON.stringify([user, parts, timeMs])))
    const { type: _type, signatureChainId: _chain, ...rest } = parts
    const listed: SendAsset = { ...rest, type: 'SendAsset', nonce: BigInt(parts.nonce) }
    ledger.transactions.push({ hash, user, timeMs, block: 700 + ledger.transactions.length, action: listed })
  }
  return venue
}

type SignedAsset = Omit<SendAsset, 'type' | 'nonce'> & {
  readonly type: string
  readonly nonce: number
  readonly signatureChainId: string
}

/** Whoever signed it, in lower case; of anything else an account that nobody has. */
async function signerOf(
  { type: _type, signatureChainId, ...message }: SignedAsset,
  { r, s, v }: { readonly r: Hex; readonly s: Hex; readonly v: number },
): Promise<string> {
  const domain = {
    ...{ name: 'HyperliquidSignTransaction', version: '1', chainId: Number(signatureChainId) },
    verifyingContract: `0x${'0'.repeat(40)}` as const,
  }
  const signature = { r, s, v: BigInt(v) }
  const types = { [sendAssetType]: members }
  return recoverTypedDataAddress({ domain, types, primaryType: sendAssetType, message, signature })
    .then((address) => address.toLowerCase())
    .catch(() => '0x')
}
