import {
  ConfigurationError,
  isLighterPayment,
  lighterAmountMax,
  lighterAsset,
  lighterCodec,
  lighterTransferMessage,
  UpstreamUnavailableError,
} from '@causeway/core'
import { privateKeyToAccount } from 'viem/accounts'
import { refuseTransfer, refuseTransferFee } from '../../family/flatTransfers.ts'
import type {
  PayingChain,
  PayingChainFamily,
  PayingChainOptions,
  PayingFees,
  PaymentTerms,
  PlannedPayment,
} from '../../family/payingChain.ts'
import { askPaymentVotes, saidByVoice } from '../../family/paymentVotes.ts'
import type { HttpView } from '../../rpc/httpView.ts'
import { unlessUnreadable } from '../../rpc/malformedAnswer.ts'
import { NodeError } from '../../rpc/nodeError.ts'
import { createHttpQuorumOver } from '../../rpc/quorumClient.ts'
import { agreeOn } from '../../rpc/singleRoundQuestion.ts'
import { reachedBy } from '../../rpc/tally.ts'
import { parseSendOutcome } from '../answers.ts'
import { readAccount } from '../api.ts'
import { lighterNetworkOf } from '../networks.ts'
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
import { decideLanding, landingCalls, rawOf, textOf } from './landing.ts'
import {
  type LighterSigner,
  openLighterSigner,
  transferLifetimeMs,
  type UnsignedTransfer,
} from './lighterSigner.ts'
import { closingMemo, createOwnLane } from './ownLane.ts'

const readTimeoutMs = 5_000
/** Endpoints tell the time by clocks of their own, and a lapsed transfer may still be under way. */
const clockMarginMs = 60_000
const tokenSeconds = 600
/** How long a payment waits for the one before it to be executed, rather than compete for its nonce. */
const turnMs = 1_000
const turnPollMs = 50
/** What a closing moves from one part of the wallet to the other. */
const closingAmount = 1n
const transferType = '12'

/** Transfers of one account, each at the next nonce of its key. See decision 31. */
export const lighterPaying: PayingChainFamily = {
  // A file in its place is named by LIGHTER_PRIVATE_KEY_FILE.
  keySetting: 'LIGHTER_PRIVATE_KEY',
  // The same with LIGHTER_API_KEY_FILE.
  apiKeySetting: 'LIGHTER_API_KEY',
  open: openLighterPaying,
  landsWithinSeconds: (transferLifetimeMs + clockMarginMs) / 1_000 + 15,
}

function openLighterPaying(options: PayingChainOptions): PayingChain {
  const { client, network, key, account = {}, depositories = [] } = options
  const { name: address, apiKey, apiKeyIndex, firstNonce = 0n } = account
  const place = `chains.${client.chainId}`
  if (address === undefined) throw new ConfigurationError(`quote: ${place}.fillWallet is needed to pay there`)
  if (apiKeyIndex === undefined)
    throw new ConfigurationError(`solver: ${place}.apiKeyIndex is needed to pay there`)
  if (apiKey === undefined)
    throw new ConfigurationError(
      `LIGHTER_API_KEY or LIGHTER_API_KEY_FILE is required: ${place} is paid on with it.`,
    )
  const { lighterChainId } = lighterNetworkOf({ id: client.chainId, network })
  // CAST: a private key in a setting was checked to be 0x and 64 hex digits.
  const owner = privateKeyToAccount(key.reveal() as `0x${string}`)
  const quorum = createHttpQuorumOver(client, { now: () => Date.now() }, (view): HttpView => view)
  const own = BigInt(lighterCodec.canonicalAddress(address))

  let opened: Promise<LighterSigner> | undefined
  let exchangeMs = 0
  /** It goes by the exchange's time: what this machine's clock says decides nothing. */
  const signer = async () => {
    const { timeSeconds } = await head()
    exchangeMs = 1_000 * timeSeconds
    const options = { lighterChainId, apiKey, account: own, apiKeyIndex, nowMs: () => exchangeMs }
    opened ??= openLighterSigner(options)
    return { timeSeconds, signer: await opened }
  }
  const token = async () => {
    const { timeSeconds, signer: signs } = await signer()
    return signs.createToken(timeSeconds + tokenSeconds)
  }
  const readLane = createOwnLane({ quorum, account: address, apiKeyIndex, firstNonce, token })
  const within = () => AbortSignal.timeout(readTimeoutMs)
  const nonceCall = nextNonceCall(address, apiKeyIndex)

  const head = async () => {
    const seconds = await askPaymentVotes(client, [statusCall], (votes, { threshold }, isLast) =>
      isLast
        ? reachedOrNothing(
            saidByVoice(votes, ([status]) => parseSeconds(status)),
            threshold,
          )
        : undefined,
    )
    return { finalHeight: seconds * 1_000n, timeSeconds: Number(seconds) }
  }
  const nextNonce = (): Promise<bigint> =>
    askPaymentVotes(client, [nonceCall], (votes, { threshold }, isLast) =>
      isLast
        ? reachedOrNothing(
            saidByVoice(votes, ([nonce]) => parseNextNonce(nonce)),
            threshold,
          )
        : undefined,
    )
  /** The time comes first: the lane was no shorter then. */
  const stateOf = async (terms: Parameters<Awaited<ReturnType<typeof readLane>>['stateOf']>[0]) => {
    const { timeSeconds } = await head()
    const lane = await readLane(await nextNonce(), within())
    return { state: lane.stateOf(terms), timestampSeconds: timeSeconds }
  }
  const accountOf = (index: string) =>
    agreeOn(quorum, async (view, signal) => ({ found: await readAccount(view, index, signal) }), within())

  let isOwner: Promise<boolean> | undefined
  /** Asked until it is known, and then no more: an account keeps its owner. */
  async function refuseStranger(): Promise<string | undefined> {
    isOwner ??= accountOf(address ?? '').then(({ found }) => found?.key === owner.address.toLowerCase())
    const known = await isOwner.catch((error: unknown) => {
      isOwner = undefined
      throw error
    })
    return known ? undefined : `LIGHTER_PRIVATE_KEY is not the key of account ${address}`
  }

  async function feeOf(recipient: string, bid: PayingFees): Promise<bigint> {
    const call = transferFeeCall(address ?? '', recipient, await token())
    const { answers } = await client.agree([call], {
      timeoutMs: readTimeoutMs,
      project: ([answer]) => ({ said: unlessUnreadable(() => parseTransferFee(answer)) ?? null }),
    })
    const fee = unlessUnreadable(() => parseTransferFee(answers[0]))
    if (fee === undefined) throw new UpstreamUnavailableError('No endpoint says what a transfer takes.')
    if (fee > bid.ceiling) throw new UpstreamUnavailableError(tooDear)
    return fee
  }

  let issued: { readonly nonce: bigint; readonly atMs: number } | undefined
  /** The next nonce; behind one that was just given away, as soon as that is spent. */
  async function turn(): Promise<bigint> {
    for (;;) {
      const next = await nextNonce()
      const waits = issued !== undefined && issued.nonce >= next && Date.now() - issued.atMs < turnMs
      if (!waits) return next
      await new Promise((resolve) => setTimeout(resolve, turnPollMs))
    }
  }

  return {
    address,
    head,
    readFinal: (id, terms) => stateOf({ ...terms, id }),
    landingOf(transactions) {
      const calls = landingCalls(nonceCall, transactions)
      return askPaymentVotes(client, calls, (votes, electorate, isLast) => {
        const landing = decideLanding(votes, transactions, electorate)
        return landing.kind === 'unknown' && !isLast ? undefined : landing
      })
    },

    async plan(terms, bid) {
      const refusal =
        refuseTransfer(terms, { wallet: address, depositories, refuse: refuseAmount }) ??
        refuseTransferFee(bid) ??
        (await refuseStranger())
      if (refusal !== undefined) return { refusal }
      const [payment] = terms.payments
      if (payment !== undefined && (await accountOf(payment.recipient)).found === undefined)
        return { refusal: 'the recipient is no account' }
      if ((await stateOf(terms)).state !== 'open') return { refusal: 'the transaction would revert' }
      return { terms, units: 1n, rent: 0n }
    },

    async sign({ terms }, bid) {
      const { to, moved, amount, memo } = transferOf(address, terms)
      const [usdcFee, nonce] = await Promise.all([feeOf(to, bid), turn()])
      const lane = await readLane(nonce, within())
      // Whoever wrote it there pays it, or closed it: nothing more is signed.
      if (lane.stateOf(terms) !== 'open')
        throw new UpstreamUnavailableError('The payment was made or closed.')
      const transfer: UnsignedTransfer = {
        ...{ nonce, fromAccountIndex: own, apiKeyIndex: BigInt(apiKeyIndex), toAccountIndex: BigInt(to) },
        ...{ ...moved, amount, usdcFee, memo },
      }
      const { info, hash, expiresAtMs } = (await signer()).signer.signTransfer(transfer)
      const L1Sig = await owner.signMessage({
        message: lighterTransferMessage({ ...transfer, lighterChainId }),
      })
      issued = { nonce, atMs: Date.now() }
      return {
        ...{ raw: rawOf({ ...info, L1Sig }), hash, fee: usdcFee },
        lastValidHeight: BigInt(expiresAtMs + clockMarginMs),
      }
    },

    async broadcast({ raw }) {
      const form = { tx_type: transferType, tx_info: textOf(raw) }
      const each = await quorum.askEach(async (view, signal) => {
        const request = { method: 'POST', path: '/api/v1/sendTx', form, answerStatuses: [400] } as const
        return parseSendOutcome((await view.ask(request, signal)).text)
      }, within())
      const said = each.flatMap((one) => (one.said === undefined ? [] : [one.said]))
      if (said.some(({ isTaken }) => isTaken)) return
      const [refused] = said
      if (refused !== undefined) throw new NodeError({ code: -1, message: refused.message })
      throw new UpstreamUnavailableError('No endpoint took the transfer.')
    },

    async balanceOf(currency) {
      const [answer] = await client.batch([accountCall(address)], { timeoutMs: readTimeoutMs })
      const held = parseHoldings(answer, address, (asset) => decimals.get(asset))
      return held?.get(currency) ?? 0n
    },
  }
}

/** Of assets that are paid in beside perps USDC. @source families.md 5.6 */
const decimals: ReadonlyMap<string, number> = new Map([
  ['1', 8],
  ['3', 6],
])

/** A number that enough voices have reached; nothing while too few have spoken. */
function reachedOrNothing(said: readonly bigint[], threshold: number): bigint | undefined {
  const reached = reachedBy(threshold, said)
  return reached < 0n ? undefined : reached
}

const tooDear = 'A transfer takes more than maxFeePerGasWei.'

/** What the exchange does not move. */
function refuseAmount({ amount, currency }: PlannedPayment): string | undefined {
  const isMoved = amount > 0n && amount <= lighterAmountMax && isLighterPayment(currency)
  return isMoved ? undefined : 'an amount is none of this chain'
}

/** A closing moves next to nothing from one part of the wallet to the other, and says what it closes. */
function transferOf(
  wallet: string,
  { id, mark, orderId = id, payments: [payment] }: PaymentTerms,
): {
  readonly to: string
  readonly moved: Pick<UnsignedTransfer, 'assetIndex' | 'fromRouteType' | 'toRouteType'>
  readonly amount: bigint
  readonly memo: UnsignedTransfer['memo']
} {
  if (mark === 'closed' || payment === undefined) {
    const [perps, spot] = [lighterAsset('0'), lighterAsset('3')]
    const moved = {
      assetIndex: perps.assetIndex,
      fromRouteType: perps.routeType,
      toRouteType: spot.routeType,
    }
    return { to: wallet, moved, amount: closingAmount, memo: closingMemo(id) }
  }
  const { assetIndex, routeType } = lighterAsset(payment.currency)
  const moved = { assetIndex, fromRouteType: routeType, toRouteType: routeType }
  return { to: payment.recipient, moved, amount: payment.amount, memo: orderId }
}
