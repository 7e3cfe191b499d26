// Takes transfers as the exchange does: the payer is the signer of the action, a nonce counts once and within days, and the
// balance has to suffice. The first transfer to an address makes its account, and the exchange keeps a dollar of it.
import { type Hex, parseDecimal } from '@causeway/core'
import { type SendAsset, sendAssetType } from '@causeway/families/rules'
import { keccak256, recoverTypedDataAddress, toHex } from 'viem'
import type { ListedToken, ListedTransaction } from './hyperliquidExchange.ts'

/** A transfer that was executed: its signer, time and signed action. */
export type TakenTransfer = { readonly user: string; readonly timeMs: number; readonly action: SignedAsset }

const dayMs = 86_400_000
/** The exchange keeps so many nonces of an account, and takes none below the least of them. @source Hyperliquid documentation, "Nonces" */
const noncesKept = 100
/** A dollar in smallest units of USDC, which a new account costs. */
const accountFee = 100_000_000n

/** EIP-712 members of the signed action. */
const sendAssetMembers = [
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

type Ledger = {
  readonly transactions: ListedTransaction[]
  readonly tokens: readonly ListedToken[]
  readonly accounts: Set<string>
}

/**
 * @param ledger list to which executed transfers are added
 * @param onTaken called for each transfer before its sender is answered
 */
export const createHyperliquidVenue = (
  ledger: Ledger,
  onTaken: (transfer: TakenTransfer) => void = () => undefined,
): HyperliquidVenue => new HyperliquidVenue(ledger, onTaken)

export class HyperliquidVenue {
  readonly #ledger: Ledger
  readonly #onTaken: (transfer: TakenTransfer) => void
  /** Smallest units, by account and part. */
  readonly #balances = new Map<string, bigint>()
  /** Used nonces by account, the newest first. */
  readonly #nonces = new Map<string, number[]>()

  constructor(ledger: Ledger, onTaken: (transfer: TakenTransfer) => void) {
    this.#ledger = ledger
    this.#onTaken = onTaken
  }

  /** Unix milliseconds. */
  nowMs = (): number => Date.now()

  /** Balance in smallest units. @param part of the account: empty for perps, or the id of a token on the spot side */
  balanceOf(account: string, part: string): bigint {
    return this.#balances.get(`${account.toLowerCase()} ${part}`) ?? 0n
  }

  /** Adds to balances from nothing, by part. */
  fund(account: string, held: Readonly<Record<string, bigint>>): void {
    this.#ledger.accounts.add(account.toLowerCase())
    for (const [part, amount] of Object.entries(held)) this.#add(account, part, amount)
  }

  #add(account: string, part: string, amount: bigint): void {
    this.#balances.set(`${account.toLowerCase()} ${part}`, this.balanceOf(account, part) + amount)
  }

  /** Takes the body of a request to `/exchange`. @returns why it is refused; undefined where it was executed */
  async take(body: Readonly<Record<string, unknown>>): Promise<string | undefined> {
    const { action, nonce, signature } = body
    const parts = Object(action)
    if (parts.type !== 'sendAsset' || parts.nonce !== nonce) return 'unknown action'
    const user = await signerOf(parts, Object(signature))
    const refusal = this.#refuseNonce(user, Number(nonce)) ?? this.#refuseTransfer(user, parts)
    if (refusal !== undefined) return refusal
    const transfer = { user, timeMs: this.nowMs(), action: parts }
    this.execute(transfer)
    this.#onTaken(transfer)
    return undefined
  }

  #refuseNonce(user: string, nonce: number): string | undefined {
    const now = this.nowMs()
    const used = this.#nonces.get(user) ?? []
    if (used.includes(nonce)) return 'Invalid nonce: duplicate nonce'
    if (used.length === noncesKept && nonce < (used.at(-1) ?? 0)) return 'Invalid nonce: too low'
    const isNear = nonce > now - 2 * dayMs && nonce < now + dayMs
    return isNear ? undefined : 'Invalid nonce: out of range'
  }

  /** The part of an account that a transfer names; undefined for a token that is not listed. */
  #partOf(dex: string, token: string): { part: string; decimals: number } | undefined {
    const tokenId = token.split(':')[1] ?? ''
    const listed = this.#ledger.tokens.find(
      (one) => one.tokenId === tokenId && token.startsWith(`${one.name}:`),
    )
    if (listed === undefined) return undefined
    return dex === '' ? { part: '', decimals: 8 } : { part: tokenId, decimals: listed.szDecimals }
  }

  #refuseTransfer(user: string, { sourceDex, token, amount, destination }: SignedAsset): string | undefined {
    const from = this.#partOf(sourceDex, token)
    const units = from && parseDecimal(amount, from.decimals)
    if (from === undefined || units === undefined || units === 0n) return 'Invalid amount'
    // Perps accounts are counted in millionths of a dollar.
    if (from.part === '' && units % 100n !== 0n) return 'Invalid amount: too many decimals'
    if (!this.#ledger.accounts.has(user)) return 'Must deposit before performing actions'
    if (this.balanceOf(user, from.part) < units) return 'Insufficient balance'
    return /^0x[0-9a-fA-F]{40}$/.test(destination) ? undefined : 'Invalid destination'
  }

  /** Executes a transfer that was checked, now or in an earlier run. */
  execute({ user, timeMs, action: parts }: TakenTransfer): void {
    const used = [...(this.#nonces.get(user) ?? []), parts.nonce].toSorted((one, other) => other - one)
    this.#nonces.set(user, used.slice(0, noncesKept))
    const { sourceDex, destinationDex, token, amount } = parts
    const [from, to] = [this.#partOf(sourceDex, token), this.#partOf(destinationDex, token)]
    if (from === undefined || to === undefined) throw new Error('it was judged before')
    const units = parseDecimal(amount, from.decimals) ?? 0n
    const destination = parts.destination.toLowerCase()
    const fee = this.#ledger.accounts.has(destination) ? 0n : accountFee
    this.#ledger.accounts.add(destination)
    this.#add(user, from.part, -units)
    this.#add(destination, to.part, units > fee ? units - fee : 0n)
    const hash = keccak256(toHex(JSON.stringify([user, parts, timeMs])))
    const { type: _type, signatureChainId: _chain, ...rest } = parts
    const listed: SendAsset = { ...rest, type: 'SendAsset', nonce: BigInt(parts.nonce) }
    this.#ledger.transactions.push({
      hash,
      user,
      timeMs,
      block: 700 + this.#ledger.transactions.length,
      action: listed,
    })
  }
}

/** A `sendAsset` action as clients send it. */
type SignedAsset = Omit<SendAsset, 'type' | 'nonce'> & {
  readonly type: string
  readonly nonce: number
  readonly signatureChainId: string
}

/** The signer of an action, in lower case; for an invalid signature `0x`, which is no account. */
async function signerOf(
  { type: _type, signatureChainId, ...message }: SignedAsset,
  { r, s, v }: { readonly r: Hex; readonly s: Hex; readonly v: number },
): Promise<string> {
  const domain = {
    name: 'HyperliquidSignTransaction',
    version: '1',
    chainId: Number(signatureChainId),
    verifyingContract: `0x${'0'.repeat(40)}` as const,
  }
  const signature = { r, s, v: BigInt(v) }
  const types = { [sendAssetType]: sendAssetMembers }
  return recoverTypedDataAddress({ domain, types, primaryType: sendAssetType, message, signature })
    .then((address) => address.toLowerCase())
    .catch(() => '0x')
}
