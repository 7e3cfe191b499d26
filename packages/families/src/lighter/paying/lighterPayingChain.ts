import { ConfigurationError, type Hex, UpstreamUnavailableError } from '@causeway/core'
import { lighterCodec } from '@causeway/core/encodings'
import type { ChainClient, HttpView, RpcAnswer, RpcCall } from '@causeway/rpc'
import { agreeOn, createHttpQuorumOver, NodeError, type QuorumClient, unlessUnreadable } from '@causeway/rpc'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { agreedAnswer } from '../../shared/agreedAnswer.ts'
import { refuseTransfer, refuseTransferFee } from '../../shared/flatTransfers.ts'
import {
  type PayingChain,
  type PayingChainFamily,
  type PayingChainOptions,
  type PayingFees,
  type PaymentTerms,
  refuseAboveCeiling,
  type SentTransaction,
  type SignedPlan,
} from '../../shared/payingChain.ts'
import { askLanding } from '../../shared/paymentVotes.ts'
import {
  accountCall,
  nextNonceCall,
  parseHoldings,
  parseNextNonce,
  parseTransferFee,
  transferFeeCall,
} from '../quoting/calls.ts'
import { type LighterAccount, parseSendOutcome } from '../reading/answers.ts'
import { readAccount } from '../reading/api.ts'
import { lighterNetworkOf } from '../reading/networks.ts'
import { lighterTransferMessage } from '../rules/withdrawal.ts'
import { askReached, ExchangeClock } from './exchangeClock.ts'
import { decideLanding, decodeRaw, encodeRaw, landingCalls } from './landing.ts'
import { type SignerKey, transferLifetimeMs, type UnsignedTransfer } from './lighterSigner.ts'
import { createLaneReader } from './ownLane.ts'
import { refuseAmount, transferOf } from './plannedTransfer.ts'

const readTimeoutMs = 5_000
/** Time after its expiry in which a transfer may still land: endpoints' clocks differ, and it may be on its way. */
const clockMarginMs = 60_000
/** Time that a payment waits for the one before it to be executed, so that the two do not get the same nonce. */
const nonceWaitMs = 1_000
const noncePollMs = 50
/** The exchange's number of transfers. */
const transferType = '12'

/** Payments by transfers of one account, each at the next nonce of its API key. See decision 31. */
export const lighterPaying: PayingChainFamily = {
  // A file in its place is named by LIGHTER_PRIVATE_KEY_FILE.
  keySetting: 'LIGHTER_PRIVATE_KEY',
  // File variant: LIGHTER_API_KEY_FILE.
  apiKeySetting: 'LIGHTER_API_KEY',
  open: openLighterPaying,
  // The time until a signed transfer can no longer land, and a margin for late answers.
  landsWithinSeconds: (transferLifetimeMs + clockMarginMs) / 1_000 + 15,
}

function openLighterPaying(options: PayingChainOptions): PayingChain {
  const { client, network, key, account = {}, depositories = [] } = options
  const { name: address, apiKey, apiKeyIndex, firstNonce = 0n } = account
  const setting = `chains.${client.chainId}`
  if (address === undefined)
    throw new ConfigurationError(`quote: ${setting}.fillWallet is needed to pay there`)
  if (apiKeyIndex === undefined)
    throw new ConfigurationError(`solver: ${setting}.apiKeyIndex is needed to pay there`)
  if (apiKey === undefined)
    throw new ConfigurationError(
      `LIGHTER_API_KEY or LIGHTER_API_KEY_FILE is required: ${setting} is paid on with it.`,
    )
  const { lighterChainId } = lighterNetworkOf({ id: client.chainId, network })
  const own = BigInt(lighterCodec.canonicalAddress(address))
  // CAST: a private key in a setting was checked to be 0x and 64 hex digits.
  const owner = privateKeyToAccount(key.reveal() as `0x${string}`)
  const signerKey = { lighterChainId, apiKey, account: own, apiKeyIndex }
  return new LighterPayer({ client, address, owner, signerKey, firstNonce, depositories })
}

/** Checked settings of a payer. */
type PayerSettings = {
  readonly client: ChainClient
  /** The index of the account, in digits. */
  readonly address: string
  /** The account's EVM key: a transfer needs its signature and the API key's. */
  readonly owner: PrivateKeyAccount
  readonly signerKey: SignerKey
  /** First nonce of the API key that is read. */
  readonly firstNonce: bigint
  readonly depositories: readonly string[]
}

/**
 * Pays by transfers of one account. The lane of its API key's nonces shows what was paid or closed.
 *
 * Two transfers of one payment are never both executed. Each nonce is spent once and in order, and a transfer
 * is signed for a nonce only after all earlier ones were read as spent, none by this payment. Had two been
 * executed, the one with the higher nonce would have been signed although the lane showed the other.
 */
class LighterPayer implements PayingChain {
  readonly address: string
  readonly #settings: PayerSettings
  readonly #quorum: QuorumClient<HttpView>
  readonly #readLane: ReturnType<typeof createLaneReader>
  readonly #nonceCall: RpcCall
  readonly #clock: ExchangeClock
  #isOwner: Promise<boolean> | undefined
  /** The nonce of the last signed transfer, and when it was signed; only makes sharing a nonce rare. */
  #lastSigned: { readonly nonce: bigint; readonly atMs: number } | undefined

  constructor(settings: PayerSettings) {
    const { client, address: account, signerKey, firstNonce } = settings
    const { apiKeyIndex } = signerKey
    this.address = account
    this.#settings = settings
    this.#quorum = createHttpQuorumOver(client, (view) => view)
    this.#clock = new ExchangeClock(client, signerKey)
    const token = () => this.#clock.createToken()
    this.#readLane = createLaneReader({ quorum: this.#quorum, account, apiKeyIndex, firstNonce, token })
    this.#nonceCall = nextNonceCall(account, apiKeyIndex)
  }

  async head() {
    const seconds = await this.#clock.readSeconds()
    return { finalHeight: seconds * 1_000n, timeSeconds: Number(seconds) }
  }

  /** Reads the time before the lane, so that the lane holds all that was executed by then. */
  async readFinal(id: Hex, terms?: Partial<PaymentTerms>) {
    const { timeSeconds } = await this.head()
    const lane = await this.#readLane(await this.#nextNonce(), readTimeout())
    return { state: lane.stateOf({ ...terms, id }), timestampSeconds: timeSeconds }
  }

  #nextNonce(): Promise<bigint> {
    return askReached(this.#settings.client, this.#nonceCall, parseNextNonce)
  }

  landingOf(transactions: readonly SentTransaction[]) {
    const calls = landingCalls(this.#nonceCall, transactions)
    return askLanding(this.#settings.client, calls, (votes, electorate) =>
      decideLanding(votes, transactions, electorate),
    )
  }

  async plan(terms: PaymentTerms, bid: PayingFees) {
    const { depositories } = this.#settings
    const refusal =
      refuseTransfer(terms, { wallet: this.address, depositories, refuse: refuseAmount }) ??
      refuseTransferFee(bid) ??
      (await this.#refuseForeignKey())
    if (refusal !== undefined) return { refusal }
    const [payment] = terms.payments
    if (payment !== undefined && (await this.#readAccount(payment.recipient)) === undefined)
      return { refusal: 'the recipient is no account' }
    const { state } = await this.readFinal(terms.id, terms)
    if (state !== 'open') return { refusal: 'the transaction would revert' }
    // The exchange charges per transfer, so one unit is one transfer. Nothing takes rent.
    return { terms, units: 1n, rent: 0n }
  }

  /** Why the owner's key cannot sign for the account. An answer is cached, because an account keeps its owner. */
  async #refuseForeignKey(): Promise<string | undefined> {
    const own = this.#settings.owner.address.toLowerCase()
    this.#isOwner ??= this.#readAccount(this.address).then((account) => account?.key === own)
    const isOwner = await this.#isOwner.catch((error: unknown) => {
      this.#isOwner = undefined
      throw error
    })
    return isOwner ? undefined : `LIGHTER_PRIVATE_KEY is not the key of account ${this.address}`
  }

  async #readAccount(index: string): Promise<LighterAccount | undefined> {
    const { account } = await agreeOn(
      this.#quorum,
      async (view, signal) => ({ account: await readAccount(view, index, signal) }),
      readTimeout(),
    )
    return account
  }

  /** The lane is read up to the very nonce that is signed: see the class. */
  async sign({ terms }: SignedPlan, bid: PayingFees) {
    const { owner, signerKey } = this.#settings
    const { to, routes, amount, memo } = transferOf(this.address, terms)
    const [usdcFee, nonce] = await Promise.all([this.#feeOf(to, bid), this.#takeNonce()])
    const lane = await this.#readLane(nonce, readTimeout())
    // The lane already has the payment or its closing, so nothing more is signed.
    if (lane.stateOf(terms) !== 'open') throw new UpstreamUnavailableError('The payment was made or closed.')
    const transfer: UnsignedTransfer = {
      nonce,
      fromAccountIndex: signerKey.account,
      apiKeyIndex: BigInt(signerKey.apiKeyIndex),
      toAccountIndex: BigInt(to),
      ...routes,
      amount,
      usdcFee,
      memo,
    }
    const { info, hash, expiresAtMs } = (await this.#clock.openSigner()).signTransfer(transfer)
    const { lighterChainId } = signerKey
    const L1Sig = await owner.signMessage({
      message: lighterTransferMessage({ ...transfer, lighterChainId }),
    })
    this.#lastSigned = { nonce, atMs: performance.now() }
    return {
      raw: encodeRaw({ ...info, L1Sig }),
      hash,
      fee: usdcFee,
      lastValidHeight: BigInt(expiresAtMs + clockMarginMs),
    }
  }

  /** The fee that the exchange asks for: it refuses a transfer that names another one. */
  async #feeOf(recipient: string, bid: PayingFees): Promise<bigint> {
    const call = transferFeeCall(this.address, recipient, await this.#clock.createToken())
    const read = (answer: RpcAnswer | undefined) => unlessUnreadable(() => parseTransferFee(answer))
    const fee = await agreedAnswer(this.#settings.client, call, read, readTimeoutMs)
    if (fee === undefined) throw new UpstreamUnavailableError('No endpoint says what a transfer takes.')
    const refusal = refuseAboveCeiling('a transfer takes', fee, bid)
    if (refusal !== undefined) throw new UpstreamUnavailableError(refusal)
    return fee
  }

  /** The next nonce. If it was signed just now, waits up to `nonceWaitMs` until it is spent. */
  async #takeNonce(): Promise<bigint> {
    for (;;) {
      const next = await this.#nextNonce()
      const last = this.#lastSigned
      const isBeingSpent =
        last !== undefined && last.nonce >= next && performance.now() - last.atMs < nonceWaitMs
      if (!isBeingSpent) return next
      await new Promise((resolve) => setTimeout(resolve, noncePollMs))
    }
  }

  async broadcast({ raw }: { readonly raw: Hex }): Promise<void> {
    const form = { tx_type: transferType, tx_info: decodeRaw(raw) }
    const answers = await this.#quorum.askEach(async (view, signal) => {
      // A refusal comes with status 400.
      const request = { method: 'POST', path: '/api/v1/sendTx', form, answerStatuses: [400] } as const
      return parseSendOutcome((await view.ask(request, signal)).text)
    }, readTimeout())
    const outcomes = answers.flatMap(({ said }) => (said === undefined ? [] : [said]))
    if (outcomes.some(({ isAccepted }) => isAccepted)) return
    const [refused] = outcomes
    // Refusals are told by their texts, so one number stands for all.
    if (refused !== undefined) throw new NodeError({ code: -1, message: refused.message })
    throw new UpstreamUnavailableError('No endpoint took the transfer.')
  }

  async balanceOf(currency: string): Promise<bigint> {
    const calls = [accountCall(this.address)]
    const [answer] = await this.#settings.client.batch(calls, { timeoutMs: readTimeoutMs })
    const held = parseHoldings(answer, this.address, (asset) => decimals.get(asset))
    return held?.get(currency) ?? 0n
  }
}

const readTimeout = () => AbortSignal.timeout(readTimeoutMs)

/**
 * Decimals of the supported assets other than perps USDC: ETH (1) and spot USDC (3).
 * @source Lighter API reference, "assetDetails"
 */
const decimals: ReadonlyMap<string, number> = new Map([
  ['1', 8],
  ['3', 6],
])
