import { executionReverted, sha256TextHex } from '@causeway/core'
import { judgeSweep } from '../judge/judgeSweep.ts'
import type { ProgramSweep, Relay, ScriptSweep } from '../work/relays.ts'
import { relayBound } from './costBound.ts'
import type { Filling, SolverChain } from './filling.ts'
import { begin, type Handled, isTooLate, later, refused, refusedForGood } from './handled.ts'

/** Sends a sweep or a permit for others, through a contract that the solver's settings name. */
export async function relay(
  id: string,
  { kind, contract, through, relayer, deadline, transaction, costed, signer }: Relay,
  chain: SolverChain,
  filling: Filling,
): Promise<Handled> {
  if (contract !== chain[through]) return refusedForGood('the contract is another one')
  if (relayer !== undefined && relayer !== chain.desk.address)
    return refusedForGood('the signature is for another account')
  if (isTooLate(chain, await chain.desk.chainTime(), deadline)) return refused('the deadline has passed')
  // A permit that reverted would cost the wallet the same gas again.
  if (kind === 'permit' && (await filling.records.latest(id))?.outcome === 'reverted')
    return refused(`${executionReverted}: it reverted on chain`)
  // Code of the signer may waste gas, so all permits of one such account share an allowance. An account that runs calls
  // through the multicall has code, or gets it by this transaction.
  const isContract =
    through === 'multicall3' || (signer !== undefined && (await chain.hasCode?.(signer)) !== false)
  const subject = { id, kind, orderId: undefined, deadline, ...(isContract && { sharer: signer }) }
  const bound = relayBound({ costed }, chain)
  return begin({ chain, filling }, subject, { kind: 'relay', transaction, bound })
}

/** Moves the coins at a deposit address that is a script. */
export async function sweep(
  id: string,
  item: ScriptSweep,
  chain: SolverChain,
  filling: Filling,
): Promise<Handled> {
  const { sweeping, desk } = chain
  if (sweeping === undefined) return refused('no address of this chain is a script')
  const judged = judgeSweep(item, { key: chain.key, sweeping, orders: filling.orders })
  if (judged.kind === 'refuse') return refused(judged.reason)
  if (isTooLate(chain, await desk.chainTime(), item.deadline)) return refused('the deadline has passed')
  const outputs = await sweeping.outputsToSweep(item.depositAddress)
  if (outputs.reduce((sum, { value }) => sum + value, 0n) < item.amount)
    return later('what was paid to the address is not final')
  const { kind, deadline } = item
  const { recipient, orderId, script } = judged
  const work = { kind, recipient, orderId, swept: { script, nonce: item.terms.nonce, outputs } }
  return begin({ chain, filling }, { id, kind, orderId: undefined, deadline }, work)
}

/** Empties a deposit address of a program. The program enforces the destination, so only program and wallet are checked. */
export async function emptyAddress(
  id: string,
  item: ProgramSweep,
  chain: SolverChain,
  filling: Filling,
): Promise<Handled> {
  const { program, depositAddress: address, terms, currency, order, orderSignature, deadline } = item
  if (chain.addressProgram === undefined || program !== chain.addressProgram)
    return refusedForGood('the program is another one')
  if (terms.sweeper !== chain.desk.address) return refusedForGood('another wallet empties the address')
  if (isTooLate(chain, await chain.desk.chainTime(), deadline)) return refused('the deadline has passed')
  const signed = item.goesBack ? undefined : { order, orderSignature }
  // The mark is of the item, not of the address: a later payment to the address is another item, with another mark.
  const markId = sha256TextHex(`sweep ${id}`)
  const work = { kind: 'emptying', id: markId, emptied: { address, terms, currency, signed } } as const
  return begin({ chain, filling }, { id, kind: 'sweep', orderId: undefined, deadline }, work)
}
