import { ConfigurationError, exactNumber, type Hex, UpstreamUnavailableError } from '@causeway/core'
import { hyperliquidCodec } from '@causeway/core/encodings'
import type { ChainClient, QuorumClient } from '@causeway/rpc'
import { MalformedAnswerError, NodeError } from '@causeway/rpc'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { agreedAnswer } from '../../shared/agreedAnswer.ts'
import { refuseTransfer, refuseTransferFee } from '../../shared/flatTransfers.ts'
import type { NonceMappings } from '../../shared/nonceMappings.ts'
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
import { createTimeAsHeight, type TimeAsHeight } from '../../shared/timeAsHeight.ts'
import {
  parseSpotBalances,
  parseTime,
  parseTokens,
  parseTransferCheck,
  parseWithdrawable,
  perpsCall,
  spotCall,
  statusCall,
  tokensCall,
  transferCheckCall,
} from '../quoting/calls.ts'
import { explorersBeside } from '../quoting/connectHyperliquid.ts'
import { parseActionOutcome, type SpotToken } from '../reading/answers.ts'
import type { HyperliquidView } from '../reading/hyperliquidView.ts'
import { tokenIdOf } from '../reading/transfers.ts'
import { hyperliquidAmountMax, perpsGranularity } from '../rules/quoting/hyperliquidQuoting.ts'
import { usdcToken } from '../rules/withdrawalTransfer.ts'
import { decodeKept, encodeKept, type KeptPayment, landingOf, lifetimeMs } from './landing.ts'
import { createOwnLedger } from './ownLedger.ts'
import { createPaymentRows } from './paymentRow.ts'
import { isSpent, PaymentStates } from './paymentStates.ts'
import { signTransfer, spendingTransfer, type TransferParameters, transferOf } from './transfer.ts'

const { nativeCurrency, isAddress } = hyperliquidCodec
const readTimeoutMs = 5_000

/** Payments by transfers of one account, whose nonces the hub stores before they are signed. See decision 33. */
export const hyperliquidPaying: PayingChainFamily = {
  // A file in its place is named by HYPERLIQUID_PRIVATE_KEY_FILE.
  keySetting: 'HYPERLIQUID_PRIVATE_KEY',
  needsMappings: true,
  open: openHyperliquidPaying,
  // The hub's two entries take a second or two, and the transfer less; the rest is a margin.
  landsWithinSeconds: 20,
}

function openHyperliquidPaying({
  client,
  key,
  mappings,
  depositories = [],
}: PayingChainOptions): PayingChain {
  if (mappings === undefined)
    throw new ConfigurationError(
      `solver: chains.${client.chainId} is paid on with entries of the hub: they need ORACLES, HUB_ECDSA_PRIVATE_KEY and the hub's genericMappingAddress`,
    )
  // CAST: a private key in a setting was checked to be 0x and 64 hex digits.
  return new HyperliquidPayer(client, privateKeyToAccount(key.reveal() as Hex), mappings, depositories)
}

/** Pays by transfers of one account. The hub keeps the nonces of each payment, so that none is paid twice. */
class HyperliquidPayer implements PayingChain {
  readonly address: Hex
  readonly #client: ChainClient
  readonly #owner: PrivateKeyAccount
  readonly #depositories: readonly string[]
  readonly #quorum: QuorumClient<HyperliquidView>
  readonly #states: PaymentStates
  readonly #time: TimeAsHeight
  /** The exchange's token list, read once. */
  #tokens: Promise<readonly SpotToken[]> | undefined
  #lastNonce = 0n

  constructor(
    client: ChainClient,
    owner: PrivateKeyAccount,
    mappings: NonceMappings,
    depositories: readonly string[],
  ) {
    const wallet = lowerCase(owner.address)
    const quorum = explorersBeside(client)
    this.address = wallet
    this.#client = client
    this.#owner = owner
    this.#depositories = depositories
    this.#quorum = quorum
    this.#states = new PaymentStates(
      wallet,
      createPaymentRows({ mappings, wallet, sign: (data) => owner.signTypedData(data) }),
      createOwnLedger({ quorum, electorate: client.electorate, wallet }),
    )
    // `hash` stands for the hashes of blocks, which are not read here.
    this.#time = createTimeAsHeight({ client, call: statusCall, readMs: parseTime, hash: 'shown' })
  }

  async head() {
    const finalHeight = await this.#time.head(readTimeout())
    return { finalHeight, timeSeconds: Number(finalHeight / 1_000n) }
  }

  async readFinal(id: Hex) {
    const { ledger, state } = await this.#states.look(lowerCase(id))
    return { state, timestampSeconds: Number(ledger.timeMs / 1_000n) }
  }

  landingOf(transactions: readonly SentTransaction[]) {
    return landingOf(transactions, this.#states)
  }

  async plan(terms: PaymentTerms, bid: PayingFees) {
    const rules = { wallet: this.address, depositories: this.#depositories, refuse: refuseAmount }
    const refusal = refuseTransfer(terms, rules) ?? refuseTransferFee(bid)
    if (refusal !== undefined) return { refusal }
    const [payment] = terms.payments
    const recipientRefusal = payment && (await this.#refuseRecipient(payment, terms, bid))
    if (recipientRefusal !== undefined) return { refusal: recipientRefusal }
    const { row, state } = await this.#states.look(lowerCase(terms.id))
    if (state !== 'open' || (terms.mark === 'paid' && row.isClosed))
      return { refusal: 'the transaction would revert' }
    // The exchange charges per transfer, so one unit is one transfer. A new account's fee is no rent, but a
    // part of the transfer's fee: see `sign`.
    return { terms, units: 1n, rent: 0n }
  }

  /** Why a recipient cannot be paid: one without an account costs a fee, which the exchange takes in dollars only. */
  async #refuseRecipient(
    { recipient, currency }: PlannedPayment,
    { makesNoState }: PaymentTerms,
    bid: PayingFees,
  ): Promise<string | undefined> {
    const { exists, accountFee } = await this.#lookUp(recipient)
    if (exists) return undefined
    if (makesNoState === true) return 'the recipient is no account, and nobody was charged for one'
    const feeRefusal = refuseAboveCeiling('an account takes', accountFee, bid)
    if (feeRefusal !== undefined) return feeRefusal
    return [nativeCurrency, usdcToken].includes(currency)
      ? undefined
      : 'the recipient is no account, which is paid for in dollars alone'
  }

  #lookUp(account: string) {
    const call = transferCheckCall(account, this.address)
    return agreedAnswer(this.#client, call, parseTransferCheck, readTimeoutMs)
  }

  /** Makes the transaction that is kept. The exchange's own signature is made when it is sent: see `landing.ts`. */
  async sign({ terms }: SignedPlan) {
    const nonce = await this.#nextNonce()
    const id = lowerCase(terms.id)
    const lastValidHeight = nonce + lifetimeMs
    const [payment] = terms.payments
    // Transfers of the wallet to itself, which spend the nonces of a closed payment, are free.
    if (terms.mark === 'closed' || payment === undefined)
      return { ...encodeKept({ mark: 'closed', id, nonce }), lastValidHeight, fee: 0n }
    const { recipient, currency, amount } = payment
    const [{ accountFee: fee }, token] = await Promise.all([this.#lookUp(recipient), this.#tokenOf(currency)])
    // The exchange deducts its account fee from the amount that arrives.
    const sent = { recipient, currency, amount: amount + fee, token, nonce: exactNumber(nonce) }
    // An order id is absent only where nothing is paid, which was dealt with above.
    const orderId = lowerCase(terms.orderId ?? terms.id)
    return {
      ...encodeKept({ mark: 'paid', id, nonce, orderId, transfer: transferOf(sent) }),
      lastValidHeight,
      fee,
    }
  }

  /** The exchange's time, or the number above the last nonce: the exchange refuses old times and low nonces. */
  async #nextNonce(): Promise<bigint> {
    const now = await this.#time.head(readTimeout())
    this.#lastNonce = now > this.#lastNonce ? now : this.#lastNonce + 1n
    return this.#lastNonce
  }

  async #tokenOf(currency: string) {
    const id = tokenIdOf(currency)
    if (id === undefined) return undefined
    this.#tokens ??= agreedAnswer(this.#client, tokensCall, parseTokens, readTimeoutMs)
    const listed = await this.#tokens.catch((error: unknown) => {
      this.#tokens = undefined
      throw error
    })
    const [token, ...more] = listed.filter(({ tokenId }) => tokenId === id)
    if (token === undefined || more.length > 0) throw new MalformedAnswerError('spotMeta')
    return { symbol: token.name, decimals: token.decimals }
  }

  async broadcast({ raw }: { readonly raw: Hex }): Promise<void> {
    const kept = decodeKept(raw)
    await (kept.mark === 'closed' ? this.#close(kept.id) : this.#pay(kept))
  }

  /**
   * Sends a payment once the hub has its nonce as the last one of its row. It is never paid twice:
   * - The exchange executes one transfer per nonce, so sending the last nonce of the row again does no harm.
   * - A new nonce is appended only if every earlier one is spent without having paid (`state` is `open`). If
   *   one may still be executed, it is spent now, and the payment is refused: the solver broadcasts it again.
   * - Nonces before the last are never sent again, even if they expire unused.
   * - If two processes append at one slot, one of them fails, since the hub keeps the first entry of a slot.
   *
   * `assign` lets the hub tell which payment the nonce was for, without which its transfer would not count as
   * paid.
   */
  async #pay({ id, orderId, nonce, transfer }: KeptPayment): Promise<void> {
    const { rows } = this.#states
    const { row, ledger, state } = await this.#states.look(id)
    if (state !== 'open' || row.isClosed) throw refused('the payment was made or closed')
    if (nonce + lifetimeMs < ledger.timeMs) throw refused('its time is over')
    const isLastOfRow = row.nonces.at(-1) === nonce
    if (!isLastOfRow && row.nonces.includes(nonce)) throw refused('its nonce was given up')
    if (!isLastOfRow) {
      const unspent = row.nonces.filter((earlier) => !isSpent(ledger, earlier))
      for (const earlier of unspent) await this.#spend(earlier)
      if (unspent.length > 0) throw refused('an earlier nonce of it is being spent')
    }
    await Promise.all([
      rows.assign(nonce, { id, orderId }),
      ...(isLastOfRow ? [] : [rows.append(id, row.slot, nonce)]),
    ])
    const refusal = await this.#submit(transfer)
    if (refusal !== undefined) throw refused(refusal)
  }

  /**
   * Closes the row first, so that the payment gets no further nonce, and then spends its nonces. It counts as
   * closed once all are spent (see `look`); until then the solver broadcasts the closing again.
   */
  async #close(id: Hex): Promise<void> {
    const { row, ledger, state } = await this.#states.look(id)
    if (state === 'paid') throw refused('the payment was made')
    if (!row.isClosed) await this.#states.rows.append(id, row.slot, 'closed')
    for (const nonce of row.nonces) if (!isSpent(ledger, nonce)) await this.#spend(nonce)
  }

  /**
   * Uses a nonce up from either side of the account. Only one transfer per nonce is executed: this or the payment. If
   * both sides are refused, the ledger still shows the nonce as unspent, and the next call tries again.
   */
  async #spend(nonce: bigint): Promise<void> {
    const refusal = await this.#submit(spendingTransfer(this.address, exactNumber(nonce), 'perps'))
    if (refusal !== undefined) await this.#submit(spendingTransfer(this.address, exactNumber(nonce), 'spot'))
  }

  /** Signs and sends. @returns why no endpoint accepted it @throws UpstreamUnavailableError if none answered */
  async #submit(parameters: TransferParameters): Promise<string | undefined> {
    const action = await signTransfer(this.#owner, parameters)
    const answers = await this.#quorum.askEach(
      async (view, signal) => parseActionOutcome(await view.act(action, signal)),
      readTimeout(),
    )
    const outcomes = answers.flatMap(({ said }) => (said === undefined ? [] : [said]))
    const [first] = outcomes
    if (first === undefined) throw new UpstreamUnavailableError('No endpoint took the transfer.')
    return outcomes.some(({ refusal }) => refusal === undefined) ? undefined : first.refusal
  }

  async balanceOf(currency: string): Promise<bigint> {
    const token = await this.#tokenOf(currency)
    // A currency with a dex's name behind its token's id is held on another perps dex, which is not read.
    if (token !== undefined && currency !== tokenIdOf(currency)) return 0n
    const call = token === undefined ? perpsCall(this.address) : spotCall(this.address)
    const [answer] = await this.#client.batch([call], { timeoutMs: readTimeoutMs })
    if (token === undefined) return parseWithdrawable(answer)
    const { symbol, decimals } = token
    const held = parseSpotBalances(answer, (name) => (name === symbol ? decimals : undefined))
    return held.get(symbol) ?? 0n
  }
}

const readTimeout = () => AbortSignal.timeout(readTimeoutMs)

// The exchange names refusals by texts, so one number stands for all.
const refused = (message: string) => new NodeError({ code: -1, message })

const lowerCase = (id: Hex): Hex => id.toLowerCase() as Hex // CAST: hex digits stay hex digits.

/** Reason for which the exchange does not move an amount. */
function refuseAmount({ amount, currency, recipient }: PlannedPayment): string | undefined {
  if (amount <= 0n || amount > hyperliquidAmountMax) return 'an amount is none of this chain'
  if (currency === nativeCurrency && amount % perpsGranularity !== 0n)
    return 'the exchange moves no such part of a dollar'
  return isAddress(recipient) ? undefined : 'the recipient is no account'
}
