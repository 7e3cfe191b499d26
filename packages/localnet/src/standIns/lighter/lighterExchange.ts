// A stand-in, not Lighter: accounts, their balances, and transfers between them, which are executed at once. The text that
// an account's owner signs is checked, and so are nonce, expiry, fee and balance; a transfer has the id that the exchange's
// own code gives it. The signature of the account's API key is not checked: nothing that is published verifies one.
import type { Hex } from '@causeway/core'
import { lighterCurrency } from '@causeway/core/encodings'
import { type LighterWithdrawal, lighterTransferMessage } from '@causeway/families/rules'
import { recoverMessageAddress } from 'viem'
import type { StoredTransaction, TransferInfo } from './bodies.ts'

export type LighterAccountState = {
  readonly l1Address: string
  /** Smallest units by currency: `0` is perps USDC, everything else an asset's index. */
  readonly held: Map<string, bigint>
}

/** Computes the id of a transfer, as the exchange's own code does. */
export type HashTransfer = (
  transfer: Omit<LighterWithdrawal, 'lighterChainId'>,
  expiresAtMs: number,
) => Promise<string>

/** A transfer that was executed: its id, its time, and the JSON that was sent. */
export type TakenTransfer = { readonly hash: string; readonly queuedAtMs: number; readonly info: string }

/** The JSON of a transfer with the signature of the account's owner. */
type SignedInfo = TransferInfo & { readonly L1Sig: string }

type ExchangeOptions = {
  /** Default: that of the main network. */
  readonly lighterChainId?: bigint
  /** Loads the function when the first transfer is taken; absent: no transfer is taken. */
  readonly hashTransfer?: () => Promise<HashTransfer>
  /** Called for each transfer before its sender is answered. */
  readonly onTaken?: (transfer: TakenTransfer) => void
}

export const createLighterExchange = (options: ExchangeOptions = {}): LighterExchange =>
  new LighterExchange(options)

export class LighterExchange {
  readonly lighterChainId: bigint
  readonly transactions = new Map<string, StoredTransaction>()
  readonly accounts = new Map<string, LighterAccountState>()
  /** Millionths of a dollar, for a transfer to another account; one within an account is free. */
  transferFee = 3_000_000n
  /** True: the fee is told without a token of the paying account, too. */
  tellsFeeToAll = false
  readonly #options: ExchangeOptions
  readonly #nonces = new Map<string, bigint>()
  #hashTransfer: Promise<HashTransfer> | undefined
  /** Transfers are taken one after the other, as a sequencer does. */
  #lastTake: Promise<unknown> = Promise.resolve()

  constructor(options: ExchangeOptions) {
    this.lighterChainId = options.lighterChainId ?? 304n
    this.#options = options
  }

  /** Unix milliseconds. */
  nowMs = (): number => Date.now()

  setAccount(index: string, l1Address: string, held: Readonly<Record<string, bigint>> = {}): void {
    this.accounts.set(index, { l1Address, held: new Map(Object.entries(held)) })
  }

  nextNonce(account: string, apiKeyIndex: string): bigint {
    return this.#nonces.get(`${account} ${apiKeyIndex}`) ?? 0n
  }

  feeOf(from: string, to: string): bigint {
    return from === to ? 0n : this.transferFee
  }

  /** Takes the JSON of a transfer. @returns its id, or why it is refused */
  take(info: string): Promise<{ readonly hash: string } | { readonly refusal: string }> {
    const taken = this.#lastTake.then(() => this.#takeNext(info))
    this.#lastTake = taken.catch(() => undefined)
    return taken
  }

  async #takeNext(info: string): ReturnType<LighterExchange['take']> {
    const { hashTransfer, onTaken } = this.#options
    const signed = readInfo(info)
    const transfer = transferOf(signed)
    const refusal = await this.#refusalOf(signed, transfer)
    if (refusal !== undefined) return { refusal }
    if (hashTransfer === undefined) throw new Error('this exchange takes no transfers')
    this.#hashTransfer ??= hashTransfer()
    const hash = await (await this.#hashTransfer)(transfer, Number(signed.ExpiredAt))
    const taken = { hash, queuedAtMs: this.nowMs(), info }
    this.execute(taken)
    onTaken?.(taken)
    return { hash }
  }

  /** Executes a transfer that was checked, now or in an earlier run. */
  execute({ hash, queuedAtMs, info }: TakenTransfer): void {
    const transfer = transferOf(readInfo(info))
    this.#moveBalances(transfer)
    this.#nonces.set(`${transfer.fromAccountIndex} ${transfer.apiKeyIndex}`, transfer.nonce + 1n)
    // Type 12 is a transfer, status 2 committed, which counts as executed.
    this.transactions.set(hash, { hash, type: 12, status: 2, queuedAtMs: BigInt(queuedAtMs), info })
  }

  async #refusalOf(signed: SignedInfo, transfer: Transfer): Promise<string | undefined> {
    const [from, to] = [transfer.fromAccountIndex.toString(), transfer.toAccountIndex.toString()]
    const [payer, payee] = [this.accounts.get(from), this.accounts.get(to)]
    if (payer === undefined || payee === undefined) return 'account not found'
    if (transfer.nonce !== this.nextNonce(from, transfer.apiKeyIndex.toString())) return 'invalid nonce'
    if (signed.ExpiredAt < BigInt(this.nowMs())) return 'transaction is expired'
    if (transfer.usdcFee !== this.feeOf(from, to)) return 'invalid fee'
    // A memo is `0x` and 32 bytes in hex.
    if (transfer.amount <= 0n || transfer.memo.length !== 66) return 'invalid transfer'
    const message = lighterTransferMessage({ ...transfer, lighterChainId: this.lighterChainId })
    // CAST: a signature of any other form recovers nobody.
    const signer = await recoverMessageAddress({ message, signature: signed.L1Sig as Hex }).catch(() => '')
    if (signer.toLowerCase() !== payer.l1Address.toLowerCase()) return 'invalid l1 signature'
    const currency = lighterCurrency(transfer.assetIndex, transfer.fromRouteType)
    const needed = transfer.amount + (currency === '0' ? transfer.usdcFee : 0n)
    const hasEnough =
      (payer.held.get(currency) ?? 0n) >= needed && (payer.held.get('0') ?? 0n) >= transfer.usdcFee
    return hasEnough ? undefined : 'not enough balance'
  }

  #moveBalances(transfer: Transfer): void {
    const from = this.accounts.get(transfer.fromAccountIndex.toString())?.held
    const to = this.accounts.get(transfer.toAccountIndex.toString())?.held
    const add = (held: typeof from, currency: string, amount: bigint) =>
      held?.set(currency, (held.get(currency) ?? 0n) + amount)
    add(from, lighterCurrency(transfer.assetIndex, transfer.fromRouteType), -transfer.amount)
    add(from, '0', -transfer.usdcFee)
    add(to, lighterCurrency(transfer.assetIndex, transfer.toRouteType), transfer.amount)
  }

  /** Executed transactions of an account, the newest first. */
  listOf(account: string): readonly StoredTransaction[] {
    const index = new RegExp(`"(?:From|To)AccountIndex":${account}\\b`)
    return [...this.transactions.values()].reverse().filter((one) => index.test(one.info))
  }
}

type Transfer = Omit<LighterWithdrawal, 'lighterChainId'>

function transferOf(info: TransferInfo): Transfer {
  return {
    nonce: info.Nonce,
    apiKeyIndex: info.ApiKeyIndex,
    assetIndex: info.AssetIndex,
    fromAccountIndex: info.FromAccountIndex,
    fromRouteType: info.FromRouteType,
    toAccountIndex: info.ToAccountIndex,
    toRouteType: info.ToRouteType,
    amount: info.Amount,
    usdcFee: info.USDCFee,
    memo: `0x${Buffer.from(info.Memo).toString('hex')}`,
  }
}

function readInfo(text: string): SignedInfo {
  const parts = Object(JSON.parse(text))
  const part = (name: keyof TransferInfo) => BigInt(parts[name])
  return {
    FromAccountIndex: part('FromAccountIndex'),
    ApiKeyIndex: part('ApiKeyIndex'),
    ToAccountIndex: part('ToAccountIndex'),
    AssetIndex: part('AssetIndex'),
    FromRouteType: part('FromRouteType'),
    ToRouteType: part('ToRouteType'),
    Amount: part('Amount'),
    USDCFee: part('USDCFee'),
    ExpiredAt: part('ExpiredAt'),
    Nonce: part('Nonce'),
    Memo: parts.Memo,
    L1Sig: String(parts.L1Sig),
  }
}
