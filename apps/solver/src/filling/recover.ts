import { OraclesRefusedError } from '@causeway/chains'
import { type Hex, onchainId, recoveryKey } from '@causeway/core'
import { codecOf } from '@causeway/core/encodings'
import { signingDigest } from '@causeway/families/rules'
import { judgeRecovery, type PaymentMark, type SignedPayment } from '../judge/judgeRecovery.ts'
import { type DepositPosition, refuseOrder } from '../judge/signedOrder.ts'
import { fillTurn } from '../judge/turns.ts'
import { refundIdOf, type SeenDeposit } from '../judge/verdict.ts'
import type { KeptRecord } from '../wallet/signedRecord.ts'
import type { RecoveryRequest } from '../work/workItems.ts'
import type { Filling, Recoveries, SolverChain } from './filling.ts'
import { closeRecord, recordsOfOthers, stopSigned } from './judgeItem.ts'

/** `entered`: the hub has the deposit and the promise. `key`: the hub's key for giving the deposit back. */
export type Recovered =
  | { readonly kind: 'entered'; readonly key: Hex }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'later'; readonly reason: string; readonly needsPause: true }

/**
 * Each look reads chains, and what it waits for takes blocks or hours: so the next one comes after a pause.
 */
const later = (reason: string): Recovered => ({ kind: 'later', reason, needsPause: true })
const refused = (reason: string): Recovered => ({ kind: 'refused', reason })
/** Above the worth of any deposit, so that this one is read at the greatest depth of its chain's policy. */
const mostMicroUsd = 2n ** 63n

/**
 * Gives an order up for good and brings its deposit and its promise to the hub. From its first look on
 * nothing is signed for the order, whatever the service offers. Each look does all of it again: it stops what
 * was signed, and `judgeRecovery` tells by deposit, records and marks whether the wallet's own ids are closed
 * first, something is waited for, or the promise and the deposit are entered. Repeating any of it is
 * harmless.
 * @source rules P-72, P-73
 */
export async function recover(
  item: RecoveryRequest,
  origin: SolverChain,
  filling: Filling,
): Promise<Recovered> {
  const { orderId, proof } = item
  const { recoveries, isDryRun, records } = filling
  if (recoveries === undefined)
    return refused(
      'the solver writes to no hub: chains.hub.<ENVIRONMENT>.json, ORACLES and the hub key are needed',
    )
  const forged = refuseOrder(orderId, proof, filling.orders)
  if (forged !== undefined) return refused(forged)
  const destination = filling.chains.find(({ key }) => key === proof.order.output.chainId)
  if (destination === undefined) return refused('the order is paid on a chain that is none of this solver’s')
  const [position] = proof.deposits
  if (position === undefined) return refused('the work names no deposit')
  if (isDryRun) return later('the order would be given up: this is a dry run')
  // From here on nothing new is signed for the order, in any process. What was signed before is stopped or waited for.
  const past = await records.closeOrder(orderId)
  await stopSigned(past, filling)
  const [deposit] = (await filling.deposits.read(position, mostMicroUsd)) ?? []
  const judged = judgeRecovery({
    orderId,
    deposit,
    fillWallet: origin.desk.address,
    isRefundable: proof.order.inputs.some(({ refunds }) =>
      refunds.some(({ recipient }) => !origin.payees.isBurnt(recipient)),
    ),
    signed: await signedOf(past, orderId, filling, recoveries),
    marks: await marksOf(item, { deposit, origin, destination }, filling),
  })
  switch (judged.kind) {
    case 'close':
      await closeIds(judged.ids, item, { origin, destination }, filling)
      return later('the order is being closed on its chains')
    case 'wait':
      return later(judged.reason)
    case 'refuse':
      return refused(judged.reason)
    case 'enter':
      return enter(item, position, origin, { filling, recoveries })
  }
}

/** Closes the order's id on its destination, and the id of its deposit's refund on its origin. */
async function closeIds(
  ids: readonly Hex[],
  { orderId, proof }: RecoveryRequest,
  { origin, destination }: { readonly origin: SolverChain; readonly destination: SolverChain },
  filling: Filling,
): Promise<void> {
  const { inputs, output } = proof.order
  for (const id of ids) {
    if (id === orderId) await closeRecord({ id, extraData: output.extraData }, destination, filling)
    else await closeRecord({ id, extraData: inputs[0]?.refunds[0]?.extraData }, origin, filling)
  }
}

/** Checks the promise's signature, then writes the deposit and the promise to the hub. */
async function enter(
  { orderId, proof, promise }: RecoveryRequest,
  { transactionId: givenTransactionId, onchainIndex }: DepositPosition,
  { key: chainKey }: SolverChain,
  { filling, recoveries }: { readonly filling: Filling; readonly recoveries: Recoveries },
): Promise<Recovered> {
  if (promise === undefined) return later('the promise is not signed yet')
  const solver = proof.order.solver.toLowerCase()
  const { solverChainId } = proof.order
  const chainId = recoveries.chainNumberOf(solverChainId)
  if (chainId === undefined)
    return refused(`the order's solver is on ${solverChainId}, which is no EVM chain`)
  // CAST: the order's signer was recovered, and is this address.
  const promised = { solverChainId, solver: solver as Hex, orderId }
  const digest = signingDigest({ purpose: 'no-fill-or-refund', promise: promised, chainId })
  if (filling.orders.recoverSigner(digest, promise) !== solver)
    return refused('the promise is signed by somebody else')
  const network = filling.networkOf(chainKey)
  const transactionId =
    network === undefined ? givenTransactionId : codecOf(network).canonicalTransactionId(givenTransactionId)
  try {
    await recoveries.hub.submitDeposits({ chainId: chainKey, transactionId })
    await recoveries.hub.writePromise(promised, promise)
  } catch (error) {
    if (error instanceof OraclesRefusedError) return refused(error.message)
    throw error
  }
  return { kind: 'entered', key: recoveryKey(onchainId({ chainId: chainKey, transactionId, onchainIndex })) }
}

/** Fills and refunds that were signed for the order, each with whether the hub has settled it. */
async function signedOf(
  past: readonly KeptRecord[],
  orderId: Hex,
  { records }: Filling,
  { hub }: Recoveries,
): Promise<readonly SignedPayment[]> {
  const payments = past.filter(({ kind }) => kind === 'fill' || kind === 'refund')
  const keys = await records.settlementKeys(orderId)
  return Promise.all(
    payments.map(async ({ id, attempt, kind, outcome }) => {
      const settlementKey = keys.find((one) => one.id === id && one.attempt === attempt)
      return {
        kind,
        outcome,
        isSettled: settlementKey !== undefined && (await hub.isExecuted(settlementKey.key)),
      }
    }),
  )
}

/** Marks of the order's fill and of its deposit's refund, as chains record them for every fill wallet. */
async function marksOf(
  { orderId, proof: { order } }: RecoveryRequest,
  places: {
    readonly deposit: SeenDeposit | undefined
    readonly origin: SolverChain
    readonly destination: SolverChain
  },
  { sharing }: Filling,
): Promise<readonly PaymentMark[]> {
  const { deposit, origin, destination } = places
  const { deadline } = order.output
  const refund = deposit && refundIdOf(orderId, deposit)
  // A fill is refused after its turn; a refund has no end of its own.
  const marksAt = async (id: Hex, chain: SolverChain, hasEnd: boolean): Promise<readonly PaymentMark[]> => {
    const endOf = (fillWallet: Hex) =>
      hasEnd && chain.record.endsByDeadline
        ? fillTurn(orderId, deadline, { ...sharing, own: fillWallet }).endSeconds
        : undefined
    const ownMark = {
      id,
      isOwn: true,
      endSeconds: endOf(sharing.own),
      ...(await chain.record.readFinal(id, orderId)),
    }
    const others = await recordsOfOthers(id, chain, sharing)
    return [
      ownMark,
      ...others.map((mark) => ({ id, isOwn: false, endSeconds: endOf(mark.fillWallet), ...mark })),
    ]
  }
  return [
    ...(await marksAt(orderId, destination, true)),
    ...(refund === undefined ? [] : await marksAt(refund, origin, false)),
  ]
}
