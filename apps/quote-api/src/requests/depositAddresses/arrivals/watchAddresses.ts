import { paceMs } from '@causeway/core/config'
import type { Run } from '../../../jobs/runJobs.ts'
import { runConcurrently } from '../../work/followWork.ts'
import { lanesInOrder, paidLanes } from '../addressLanes.ts'
import { listDueAddresses, recheckAddressesAfter } from '../addressStore.ts'
import type { AddressChain, DepositAddressContext } from '../depositAddressContext.ts'
import { judgedHeight } from './arrivalStep.ts'
import { handleMoney } from './handleMoney.ts'
import { readScanCursor } from './paidAddressStore.ts'

const atOnce = 4
/** Time for which an empty address keeps the lane that a block gave it, so that its money can become final meanwhile. */
const laneKeptMs = 86_400_000
/** Longest pause between looks: on a chain with slow blocks the next one may come at any moment. */
const pauseMaxMs = 30_000

/**
 * One pass of a chain's job for deposit addresses: reads the balances of the addresses that are due, and has their money
 * swept, quoted anew, sent back or left. The next looks are scheduled first, so that a failure does not repeat at once.
 */
export async function watchAddresses(
  context: DepositAddressContext,
  site: AddressChain,
  run: Run,
): Promise<void> {
  const { database } = context
  const { chain } = site
  const due = await listDueAddresses(database, chain.chainId, site.isSeenInBlocks ? paidLanes : lanesInOrder)
  if (due.length === 0) return
  const head = await site.head(run.signal)
  const height = await heightToJudge(context, site, head)
  const dueAddresses = due.map(({ address }) => address)
  const held = await site.balances(dueAddresses, height, run.signal)
  await database.transaction(async (tx) => {
    await run.fence(tx)
    const unansweredAddresses = dueAddresses.filter((_address, index) => held[index] === undefined)
    if (unansweredAddresses.length > 0)
      context.logger.warn(
        { chain: chain.key, addresses: unansweredAddresses },
        'what lies there is not answered for',
      )
    // An address whose balances are unknown does not count as empty.
    const lookResults = dueAddresses.map((address, index) => ({ address, isEmpty: held[index]?.size === 0 }))
    await recheckAddressesAfter(tx, lookResults, {
      leastMs: Math.min(paceMs(chain.config), pauseMaxMs),
      // On other chains all lanes are read, so an empty address need not keep its lane.
      keepsLaneMs: site.isSeenInBlocks ? laneKeptMs : 0,
    })
  })
  const paid = due.flatMap((address, index) => {
    const balances = held[index]
    return balances === undefined || balances.size === 0 ? [] : [{ address, balances }]
  })
  await runConcurrently(paid, { atOnce, run }, ({ address, balances }) =>
    handleMoney(context, { site, address, balances, height, head, run }),
  )
}

/** Block at which balances are read; the head where payers are asked for by address. */
async function heightToJudge(
  { database }: Pick<DepositAddressContext, 'database'>,
  { chain, payers }: Pick<AddressChain, 'chain' | 'payers'>,
  head: bigint,
): Promise<bigint> {
  if (payers !== undefined) return head
  return judgedHeight(head, (await readScanCursor(database, chain.chainId))?.scannedTo)
}
