import { ConfigurationError, type Hex, UpstreamUnavailableError } from '@causeway/core'
import { isLighterPayment, lighterAsset, lighterCodec } from '@causeway/core/encodings'
import type { ChainClient, HttpView, RpcAnswer, RpcCall } from '@causeway/rpc'
import {
  agreeOn,
  createHttpQuorumOver,
  NodeError,
  type QuorumClient,
  reachedBy,
  unlessUnreadable,
} from '@causeway/rpc'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { agreedAnswer } from '../../shared/agreedAnswer.ts'
import { refuseTransfer, refuseTransferFee } from '../../shared/flatTransfers.ts'
import {
  type PayingChain,
  type PayingChainFamily,
  type PayingChainOptions,
  type PayingFees,
  type PaymentTerms,
  type PlannedPayment,
  refuseAboveCeiling,
  type SentTransaction,
  type SignedPlan,
} from '../../shared/payingChain.ts'
import { askLanding, askPaymentVotes, readByVoice } from '../../shared/paymentVotes.ts'
import {
  accountCall,
  nextNonceCall,
  parseHoldings,
  parseNextNonce,
  parseSeconds,
  parseTransferFee,
  statusCall,
  transferFeeCall,
} from '../quoting/calls.ts'
import { parseSendOutcome } from '../reading/answers.ts'
import { readAccount } from '../reading/api.ts'
import { lighterNetworkOf } from '../reading/networks.ts'
import { lighterAmountMax } from '../rules/quoting/lighterQuoting.ts'
import { lighterTransferMessage } from '../rules/withdrawal.ts'
import { decideLanding, decodeRaw, encodeRaw, landingCalls } from './landing.ts'
import {
  type LighterSigner,
  openLighterSigner,
  type SignerKey,
  transferLifetimeMs,
  type UnsignedTransfer,
} from './lighterSigner.ts'
import { closingMemo, createNonceHistory } from './ownLane.ts'

const readTimeoutMs = 5_000
/** Time after its expiry in which a transfer may still land: endpoints' clocks differ, and it may be on its way. */
const clockMarginMs = 60_000
/** Validity of the token that proves the wallet's account to endpoints. */
const tokenSeconds = 600
/**
 * Milliseconds that a payment waits for the one before it to be executed, so that the two do not get the same nonce.
 */
const turnMs = 1_000
const turnPollMs = 50
/** Smallest units that a closing moves from the wallet's perps side to its spot side. */
const closingAmount = 1n
/** The exchange's number of transfers. */
const transferType = '12'

/** Payments by transfers of one account, each at the next nonce of its API key. See decision 31. */
export const lighterPaying: PayingChainFamily = {
  // A file in its place is named by LIGHTER_PRIVATE_KEY_FILE.
  keySetting: 'LIGHTER_PRIVATE_KEY',
  // File variant: LIGHTER_API_KEY_FILE.
  apiKeySetting: 'LIGHTER_API_KEY',
  open: openLighterPaying,
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
type PayerParts = {
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

class LighterPayer implements PayingChain {
  readonly address: string
  readonly #parts: PayerParts
  readonly #quorum: QuorumClient<HttpView>
  readonly #readLane: ReturnType<typeof createNonceHistory>
  readonly #nonceCall: RpcCall
  #opened: Promise<LighterSigner> | undefined
  /** The exchange's time as of the last look, which is the signer's clock. */
  #exchangeMs = 0
  #isOwner: Promise<boolean> | undefined
  /** The nonce that was signed last, and when. */
  #issued: { readonly nonce: bigint; readonly atMs: number } | undefined

  constructor(parts: PayerParts) {
    const { client, address: account, signerKey, firstNonce } = parts
    const { apiKeyIndex } = signerKey
    this.address = account
    this.#parts = parts
    this.#quorum = createHttpQuorumOver(client, { now: () => Date.now() }, (view) => view)
    const token = () => this.#token()
    this.#readLane = createNonceHistory({ quorum: this.#quorum, account, apiKeyIndex, firstNonce, token })
    this.#nonceCall = nextNonceCall(account, apiKeyIndex)
  }

  async head() {
    const seconds = await askReached(this.#parts.client, statusCall, parseSeconds)
    return { finalHeight: seconds * 1_000n, timeSeconds: Number(seconds) }
  }

  /** Reads the time before the lane, so that the lane holds all that was executed by then. */
  async readFinal(id: Hex, terms?: Partial<PaymentTerms>) {
    const { timeSeconds } = await this.head()
    const lane = await this.#readLane(await this.#nextNonce(), within())
    return { state: lane.stateOf({ ...terms, id }), timestampSeconds: timeSeconds }
  }

  #nextNonce(): Promise<bigint> {
    return askReached(this.#parts.client, this.#nonceCall, parseNextNonce)
  }

  landingOf(transactions: readonly SentTransaction[]) {
    const calls = landingCalls(this.#nonceCall, transactions)
    return askLanding(this.#parts.client, calls, (votes, electorate) =>
      decideLanding(votes, transactions, electorate),
    )
  }

  async plan(terms: PaymentTerms, bid: PayingFees) {
    const { depositories } = this.#parts
    const refusal =
      refuseTransfer(terms, { wallet: this.address, depositories, refuse: refuseAmount }) ??
      refuseTransferFee(bid) ??
      (await this.#refuseForeignKey())
    if (refusal !== undefined) return { refusal }
    const [payment] = terms.payments
    if (payment !== undefined && (await this.#accountOf(payment.recipient)).found === undefined)
      return { refusal: 'the recipient is no account' }
    const { state } = await this.readFinal(terms.id, terms)
    if (state !== 'open') return { refusal: 'the transaction would revert' }
    return { terms, units: 1n, rent: 0n }
  }

  /** Why the owner's key cannot sign for the account. An answer is cached, because an account keeps its owner. */
  async #refuseForeignKey(): Promise<string | undefined> {
    const own = this.#parts.owner.address.toLowerCase()
    this.#isOwner ??= this.#accountOf(this.address).then(({ found }) => found?.key === own)
    const isOwner = await this.#isOwner.catch((error: unknown) => {
      this.#isOwner = undefined
      throw error
    })
    return isOwner ? undefined : `LIGHTER_PRIVATE_KEY is not the key of account ${this.address}`
  }

  #accountOf(index: string) {
    return agreeOn(
      this.#quorum,
      async (view, signal) => ({ found: await readAccount(view, index, signal) }),
      within(),
    )
  }

  async sign({ terms }: SignedPlan, bid: PayingFees) {
    const { owner, signerKey } = this.#parts
    const { to, routes, amount, memo } = transferOf(this.address, terms)
    const [usdcFee, nonce] = await Promise.all([this.#feeOf(to, bid), this.#takeNonce()])
    const lane = await this.#readLane(nonce, within())
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
    const { info, hash, expiresAtMs } = (await this.#signer()).signer.signTransfer(transfer)
    const { lighterChainId } = signerKey
    const L1Sig = await owner.signMessage({
      message: lighterTransferMessage({ ...transfer, lighterChainId }),
    })
    this.#issued = { nonce, atMs: Date.now() }
    return {
      raw: encodeRaw({ ...info, L1Sig }),
      hash,
      fee: usdcFee,
      lastValidHeight: BigInt(expiresAtMs + clockMarginMs),
    }
  }

  /** The fee that the exchange asks for: it refuses a transfer that names another one. */
  async #feeOf(recipient: string, bid: PayingFees): Promise<bigint> {
    const call = transferFeeCall(this.address, recipient, await this.#token())
    const read = (answer: RpcAnswer | undefined) => unlessUnreadable(() => parseTransferFee(answer))
    const fee = await agreedAnswer(this.#parts.client, call, read, readTimeoutMs)
    if (fee === undefined) throw new UpstreamUnavailableError('No endpoint says what a transfer takes.')
    const refusal = refuseAboveCeiling('a transfer takes', fee, bid)
    if (refusal !== undefined) throw new UpstreamUnavailableError(refusal)
    return fee
  }

  /** The next nonce. If it was signed just now, waits up to `turnMs` until it is spent. */
  async #takeNonce(): Promise<bigint> {
    for (;;) {
      const next = await this.#nextNonce()
      const issued = this.#issued
      const isBeingSpent = issued !== undefined && issued.nonce >= next && Date.now() - issued.atMs < turnMs
      if (!isBeingSpent) return next
      await new Promise((resolve) => setTimeout(resolve, turnPollMs))
    }
  }

  /** The signer, with its clock set to the exchange's time: this machine's clock decides nothing. */
  async #signer() {
    const { timeSeconds } = await this.head()
    this.#exchangeMs = 1_000 * timeSeconds
    this.#opened ??= openLighterSigner({ ...this.#parts.signerKey, nowMs: () => this.#exchangeMs })
    return { timeSeconds, signer: await this.#opened }
  }

  async #token(): Promise<string> {
    const { timeSeconds, signer } = await this.#signer()
    return signer.createToken(timeSeconds + tokenSeconds)
  }

  async broadcast({ raw }: { readonly raw: Hex }): Promise<void> {
    const form = { tx_type: transferType, tx_info: decodeRaw(raw) }
    const answers = await this.#quorum.askEach(async (view, signal) => {
      const request = { method: 'POST', path: '/api/v1/sendTx', form, answerStatuses: [400] } as const
      return parseSendOutcome((await view.ask(request, signal)).text)
    }, within())
    const outcomes = answers.flatMap(({ said }) => (said === undefined ? [] : [said]))
    if (outcomes.some(({ isAccepted }) => isAccepted)) return
    const [refused] = outcomes
    if (refused !== undefined) throw new NodeError({ code: -1, message: refused.message })
    throw new UpstreamUnavailableError('No endpoint took the transfer.')
  }

  async balanceOf(currency: string): Promise<bigint> {
    const calls = [accountCall(this.address)]
    const [answer] = await this.#parts.client.batch(calls, { timeoutMs: readTimeoutMs })
    const held = parseHoldings(answer, this.address, (asset) => decimals.get(asset))
    return held?.get(currency) ?? 0n
  }
}

const within = () => AbortSignal.timeout(readTimeoutMs)

/** Decimals of the supported assets other than perps USDC. @source families.md 5.6 */
const decimals: ReadonlyMap<string, number> = new Map([
  ['1', 8],
  ['3', 6],
])

/** The highest number that enough endpoints have reached, once all have answered. @throws UpstreamUnavailableError */
function askReached(
  client: ChainClient,
  call: RpcCall,
  read: (answer: RpcAnswer | undefined) => bigint,
): Promise<bigint> {
  return askPaymentVotes(client, [call], (votes, { threshold }, isLast) => {
    const values = readByVoice(votes, ([answer]) => read(answer))
    const reached = isLast ? reachedBy(threshold, values) : -1n
    return reached < 0n ? undefined : reached
  })
}

/** Reason for which the exchange does not move a payment. */
function refuseAmount({ amount, currency }: PlannedPayment): string | undefined {
  const isMoved = amount > 0n && amount <= lighterAmountMax && isLighterPayment(currency)
  return isMoved ? undefined : 'an amount is none of this chain'
}

/**
 * What a payment moves, with the order id as its memo; or a closing: the smallest amount between two sides of the
 * wallet, with a memo that names the closed payment.
 */
function transferOf(
  wallet: string,
  { id, mark, orderId = id, payments: [payment] }: PaymentTerms,
): {
  readonly to: string
  readonly routes: Pick<UnsignedTransfer, 'assetIndex' | 'fromRouteType' | 'toRouteType'>
  readonly amount: bigint
  readonly memo: UnsignedTransfer['memo']
} {
  if (mark === 'closed' || payment === undefined) {
    const [perps, spot] = [lighterAsset('0'), lighterAsset('3')]
    const routes = {
      assetIndex: perps.assetIndex,
      fromRouteType: perps.routeType,
      toRouteType: spot.routeType,
    }
    return { to: wallet, routes, amount: closingAmount, memo: closingMemo(id) }
  }
  const { assetIndex, routeType } = lighterAsset(payment.currency)
  const routes = { assetIndex, fromRouteType: routeType, toRouteType: routeType }
  return { to: payment.recipient, routes, amount: payment.amount, memo: orderId }
}
