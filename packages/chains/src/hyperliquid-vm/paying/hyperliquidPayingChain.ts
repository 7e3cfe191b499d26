import {
  ConfigurationError,
  exactNumber,
  type Hex,
  hyperliquidCodec,
  UpstreamUnavailableError,
} from '@causeway/core'
import { privateKeyToAccount } from 'viem/accounts'
import { agreedAnswer } from '../../family/agreedAnswer.ts'
import { refuseTransfer, refuseTransferFee } from '../../family/flatTransfers.ts'
import type {
  PayingChain,
  PayingChainFamily,
  PayingChainOptions,
  PayingFees,
  PaymentState,
  PaymentTerms,
  PlannedPayment,
} from '../../family/payingChain.ts'
import { createTimeAsHeight } from '../../family/timeAsHeight.ts'
import { MalformedAnswerError } from '../../rpc/malformedAnswer.ts'
import { NodeError } from '../../rpc/nodeError.ts'
import { parseActionOutcome, type SpotToken } from '../answers.ts'
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
import { explorersBeside } from '../quoting/hyperliquidQuotingChain.ts'
import { usdcTokenId } from '../requests.ts'
import { tokenIdOf } from '../transfers.ts'
import { type KeptPayment, keptIn, landingOf, lifetimeMs, textOf } from './landing.ts'
import { createOwnLedger, type OwnLedger } from './ownLedger.ts'
import { createPaymentRows, type PaymentRow } from './paymentRow.ts'
import { signTransfer, spendingTransfer, type TransferParameters, transferOf } from './transfer.ts'

const { nativeCurrency, isAddress } = hyperliquidCodec
const readTimeoutMs = 5_000
/** The exchange counts in 64 bits. */
const amountMax = 2n ** 64n - 1n
/** Of 8 decimals of perps dollars the exchange moves 6. */
const perpsGranularity = 100n

/** Transfers of one account, each at a nonce that the hub gave its payment. See decision 33. */
export const hyperliquidPaying: PayingChainFamily = {
  // A file in its place is named by HYPERLIQUID_PRIVATE_KEY_FILE.
  keySetting: 'HYPERLIQUID_PRIVATE_KEY',
  needsMappings: true,
  open: openHyperliquidPaying,
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
  const owner = privateKeyToAccount(key.reveal() as Hex)
  const wallet = owner.address.toLowerCase() as Hex // CAST: an address in lower case is one.
  const quorum = explorersBeside(client)
  const readLedger = createOwnLedger({ quorum, electorate: client.electorate, wallet })
  const sign = owner.signTypedData.bind(owner)
  const rows = createPaymentRows({ mappings, wallet, sign: (data) => sign(data) })
  const within = () => AbortSignal.timeout(readTimeoutMs)
  const time = createTimeAsHeight({ client, call: statusCall, readMs: parseTime, hash: 'shown' })

  const ask = <Said>(
    call: Parameters<typeof agreedAnswer>[1],
    read: Parameters<typeof agreedAnswer<Said>>[2],
  ) => agreedAnswer(client, call, read, readTimeoutMs)
  const lackOf = (account: string) => ask(transferCheckCall(account, wallet), parseTransferCheck)
  let tokens: Promise<readonly SpotToken[]> | undefined
  const tokenOf = async (currency: string) => {
    const id = tokenIdOf(currency)
    if (id === undefined) return undefined
    tokens ??= ask(tokensCall, parseTokens)
    const listed = await tokens.catch((error: unknown) => {
      tokens = undefined
      throw error
    })
    const [found, ...more] = listed.filter(({ tokenId }) => tokenId === id)
    if (found === undefined || more.length > 0) throw new MalformedAnswerError('spotMeta')
    return { symbol: found.name, decimals: found.decimals }
  }

  /** Under a nonce of its own the payment itself was executed. */
  async function hashOfPaid(
    id: Hex,
    nonces: readonly bigint[],
    ledger: OwnLedger,
  ): Promise<string | undefined> {
    for (const nonce of nonces) {
      const shown = ledger.shown(nonce)
      if (shown !== undefined && shown.destination !== wallet && (await rows.owns(id, nonce)))
        return shown.hash
    }
    return undefined
  }
  const isSpent = (ledger: OwnLedger) => (nonce: bigint) =>
    ledger.shown(nonce) !== undefined || ledger.isOver(nonce)

  /** The row comes first: a nonce that it gets later is not looked for, and a closed one gets none. */
  async function look(id: Hex): Promise<{ row: PaymentRow; ledger: OwnLedger; state: PaymentState }> {
    const row = await rows.read(id)
    const ledger = await readLedger(row.nonces)
    const isPaid = (await hashOfPaid(id, row.nonces, ledger)) !== undefined
    const isClosed = row.isClosed && row.nonces.every(isSpent(ledger))
    return { row, ledger, state: isPaid ? 'paid' : isClosed ? 'closed' : 'open' }
  }

  /** @returns why no endpoint took it @throws UpstreamUnavailableError where none said anything */
  async function hand(parameters: TransferParameters): Promise<string | undefined> {
    const action = await signTransfer(owner, parameters)
    const each = await quorum.askEach(
      async (view, signal) => parseActionOutcome(await view.act(action, signal)),
      within(),
    )
    const said = each.flatMap((one) => (one.said === undefined ? [] : [one.said]))
    const [first] = said
    if (first === undefined) throw new UpstreamUnavailableError('No endpoint took the transfer.')
    return said.some(({ refusal }) => refusal === undefined) ? undefined : first.refusal
  }

  /** Either this is executed under the nonce or the payment was: the exchange executes one of the two. */
  async function spend(nonce: bigint): Promise<void> {
    const refusal = await hand(spendingTransfer(wallet, exactNumber(nonce), 'perps'))
    if (refusal !== undefined) await hand(spendingTransfer(wallet, exactNumber(nonce), 'spot'))
  }

  async function pay({ id, orderId, nonce, transfer }: KeptPayment): Promise<void> {
    const { row, ledger, state } = await look(id)
    if (state !== 'open' || row.isClosed) throw refused('the payment was made or closed')
    if (nonce + lifetimeMs < ledger.timeMs) throw refused('its time is over')
    const isNamed = row.nonces.at(-1) === nonce
    if (!isNamed && row.nonces.includes(nonce)) throw refused('its nonce was given up')
    if (!isNamed) {
      const open = row.nonces.filter((one) => !isSpent(ledger)(one))
      for (const one of open) await spend(one)
      if (open.length > 0) throw refused('an earlier nonce of it is being spent')
    }
    await Promise.all([
      rows.name(nonce, { id, orderId }),
      ...(isNamed ? [] : [rows.append(id, row.slot, nonce)]),
    ])
    const refusal = await hand(transfer)
    if (refusal !== undefined) throw refused(refusal)
  }

  async function close(id: Hex): Promise<void> {
    const { row, ledger, state } = await look(id)
    if (state === 'paid') throw refused('the payment was made')
    if (!row.isClosed) await rows.append(id, row.slot, 'closed')
    for (const nonce of row.nonces) if (!isSpent(ledger)(nonce)) await spend(nonce)
  }

  let last = 0n
  /** The exchange's own time, so that it is among the highest and near enough. */
  async function nextNonce(): Promise<bigint> {
    const now = await time.head(within())
    last = now > last ? now : last + 1n
    return last
  }

  return {
    address: wallet,
    async head() {
      const finalHeight = await time.head(within())
      return { finalHeight, timeSeconds: Number(finalHeight / 1_000n) }
    },
    async readFinal(id) {
      const { ledger, state } = await look(lowerCase(id))
      return { state, timestampSeconds: Number(ledger.timeMs / 1_000n) }
    },
    landingOf: (transactions) => landingOf(transactions, { readLedger, look, hashOfPaid }),

    async plan(terms, bid) {
      const refusal =
        refuseTransfer(terms, { wallet, depositories, refuse: refuseAmount }) ?? refuseTransferFee(bid)
      if (refusal !== undefined) return { refusal }
      const [payment] = terms.payments
      const without = payment && (await refuseRecipient(payment, terms, bid))
      if (without !== undefined) return { refusal: without }
      const { row, state } = await look(lowerCase(terms.id))
      if (state !== 'open' || (terms.mark === 'paid' && row.isClosed))
        return { refusal: 'the transaction would revert' }
      return { terms, units: 1n, rent: 0n }
    },

    async sign({ terms }) {
      const nonce = await nextNonce()
      const [id, lastValidHeight] = [lowerCase(terms.id), nonce + lifetimeMs]
      const [payment] = terms.payments
      if (terms.mark === 'closed' || payment === undefined)
        return { ...textOf({ mark: 'closed', id, nonce }), lastValidHeight, fee: 0n }
      const { recipient, currency, amount } = payment
      const [{ accountFee: fee }, token] = await Promise.all([lackOf(recipient), tokenOf(currency)])
      // What an account takes for itself is taken out of what reaches it.
      const moved = { recipient, currency, amount: amount + fee, token, nonce: exactNumber(nonce) }
      const orderId = lowerCase(terms.orderId ?? terms.id)
      return {
        ...textOf({ mark: 'paid', id, nonce, orderId, transfer: transferOf(moved) }),
        ...{ lastValidHeight, fee },
      }
    },

    async broadcast({ raw }) {
      const kept = keptIn(raw)
      await (kept.mark === 'closed' ? close(kept.id) : pay(kept))
    },

    async balanceOf(currency) {
      const token = await tokenOf(currency)
      if (token === undefined) {
        const [answer] = await client.batch([perpsCall(wallet)], { timeoutMs: readTimeoutMs })
        return parseWithdrawable(answer)
      }
      // What other exchanges of the venue hold is not looked at.
      if (currency !== tokenIdOf(currency)) return 0n
      const [answer] = await client.batch([spotCall(wallet)], { timeoutMs: readTimeoutMs })
      const { symbol, decimals } = token
      const held = parseSpotBalances(answer, (name) => (name === symbol ? decimals : undefined))
      return held.get(symbol) ?? 0n
    },
  }

  /** Whoever has no account yet pays a dollar for it out of what reaches him. */
  async function refuseRecipient(
    { recipient, currency }: PlannedPayment,
    { makesNoState }: PaymentTerms,
    { ceiling }: PayingFees,
  ): Promise<string | undefined> {
    const { exists, accountFee } = await lackOf(recipient)
    if (exists) return undefined
    if (makesNoState === true) return 'the recipient is no account, and nobody was charged for one'
    if (accountFee > ceiling) return 'an account takes more than maxFeePerGasWei'
    return [nativeCurrency, usdcTokenId].includes(currency)
      ? undefined
      : 'the recipient is no account, which is paid for in dollars alone'
  }
}

const refused = (message: string) => new NodeError({ code: -1, message })

const lowerCase = (id: Hex): Hex => id.toLowerCase() as Hex // CAST: hex digits stay hex digits.

/** What the exchange does not move. */
function refuseAmount({ amount, currency, recipient }: PlannedPayment): string | undefined {
  if (amount <= 0n || amount > amountMax) return 'an amount is none of this chain'
  if (currency === nativeCurrency && amount % perpsGranularity !== 0n)
    return 'the exchange moves no such part of a dollar'
  return isAddress(recipient) ? undefined : 'the recipient is no account'
}
