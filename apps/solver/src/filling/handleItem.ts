import { AlreadyMarkedError } from '@causeway/families'
import { BudgetSpentError } from '../wallet/budgets.ts'
import { GasCoinShortError, LineBusyError, NoGasPriceError } from '../wallet/chainDesk.ts'
import { UnattestedError } from '../wallet/exposure.ts'
import { mayTryAgain } from '../wallet/move.ts'
import { AlreadyBegunError, OrderClosedError, StoppedError } from '../wallet/records.ts'
import { type ReadItem, readItem, type WorkItem } from '../work/workItems.ts'
import type { Filling } from './filling.ts'
import { type Handled, later, refused, refusedForGood } from './handled.ts'
import { pay } from './pay.ts'
import { recover } from './recover.ts'
import { emptyAddress, relay, sweep } from './relay.ts'

/** Looks at an open item once: checks it, and signs a transaction for it if everything fits. A round calls it per item. */
export async function handleItem(item: WorkItem, filling: Filling): Promise<Handled> {
  // An earlier attempt that has not failed is followed by its chain's desk, not here.
  if (!mayTryAgain(await filling.records.latest(item.id))) return later('it is under way')
  const reading = readItem(item)
  if (reading.kind === 'other') return later('it is of another kind')
  if (reading.kind === 'broken') return refused(reading.reason)
  const chainId = chainIdOf(reading)
  const chain = filling.chains.find((one) => one.chainId === chainId)
  if (chain === undefined) return refusedForGood(`chain ${chainId} is none of this solver's`)
  if (!chain.desk.leads()) return later('another process has the lease')
  const refundAccount = refundAccountOf(reading)
  if (refundAccount !== undefined && chain.payees.isBurnt(refundAccount))
    return refused(`it would go back to ${refundAccount}, an account that nobody holds`)
  if (refundAccount !== undefined && chain.codec.spellAddress(refundAccount) === chain.desk.address)
    return refused('it would go to the fill wallet itself')
  const halted = [chain.key, ...depositChainsOf(reading)].find(filling.isHalted)
  if (halted !== undefined) return later(`oracles halted chain ${halted}`)
  return laterIfPassing(() => {
    switch (reading.kind) {
      case 'relay':
        return relay(item.id, reading.relay, chain, filling)
      case 'sweep':
        return reading.sweep.kind === 'sweep'
          ? sweep(item.id, reading.sweep, chain, filling)
          : emptyAddress(item.id, reading.sweep, chain, filling)
      case 'order':
        return pay(item.id, reading.order, chain, filling)
      case 'recovery':
        return recover(reading.recovery, chain, filling)
    }
  })
}

type Reading = Exclude<ReadItem, { kind: 'other' | 'broken' }>

/** The account that the work gives money back to; undefined where it gives none back. @source Q-66 */
function refundAccountOf(reading: Reading): string | undefined {
  switch (reading.kind) {
    case 'relay':
      return reading.relay.goesBackTo
    case 'sweep':
      return reading.sweep.goesBack ? reading.sweep.terms.depositor : undefined
    case 'order':
      return reading.order.kind === 'refund' ? reading.order.payments[0]?.recipient : undefined
    case 'recovery':
      return undefined
  }
}

/** Chains on which the money lies that pays for the work. */
function depositChainsOf(reading: Reading): readonly string[] {
  const inputs = (reading.kind === 'order' && reading.order.proof?.order.inputs) || []
  return inputs.map(({ payment }) => payment.chainId)
}

function chainIdOf(reading: Reading): number {
  switch (reading.kind) {
    case 'relay':
      return reading.relay.chainId
    case 'sweep':
      return reading.sweep.chainId
    case 'order':
      return reading.order.chainId
    case 'recovery':
      return reading.recovery.chainId
  }
}

/**
 * Turns an error that may be gone at the next look into `later`, and that of a closed order into a refusal.
 * @throws other errors
 */
async function laterIfPassing(handle: () => Promise<Handled>): Promise<Handled> {
  try {
    return await handle()
  } catch (error) {
    if (error instanceof BudgetSpentError || error instanceof UnattestedError)
      return { kind: 'later', reason: error.message, needsPause: true }
    if (
      error instanceof StoppedError ||
      error instanceof AlreadyBegunError ||
      error instanceof LineBusyError ||
      error instanceof AlreadyMarkedError ||
      error instanceof NoGasPriceError ||
      error instanceof GasCoinShortError
    )
      return later(error.message)
    if (error instanceof OrderClosedError) return refused(error.message)
    throw error
  }
}
