import type { Hex } from '@causeway/core'
import { encodeDepositNative } from '@causeway/families/rules'
import { waitUntilMined } from '../nodes/clients.ts'
import { connectLocalChain } from '../nodes/localChain.ts'
import type { KnownTransaction } from '../standIns/tron/knowledge.ts'
import { createTronLedger, type EvmBackend } from '../standIns/tron/tronLedger.ts'
import type { StandInOptions } from './standIn.ts'

const noOrder: Hex = `0x${'00'.repeat(32)}`
/** Blocks on top of a transaction's block that solidify it. */
const blocksOnTop = 2

/**
 * Deposits TRX by a transaction on the EVM node behind the facade. It is added to `known`, by its id on Tron.
 * @param node sends that EVM node a call by its method's name
 * @param amount in sun
 * @returns its id on Tron
 */
export async function depositTrx(
  { node: evmNode, tronDepository: depository, depositor, tronCreatedFromMs }: StandInOptions,
  {
    known,
    node,
    amount,
  }: Pick<EvmBackend, 'node'> & {
    readonly known: Map<string, KnownTransaction>
    readonly amount: bigint
  },
): Promise<string> {
  const chain = connectLocalChain(evmNode.url, evmNode.chainId)
  // The creation time is part of the id, so a fixed one makes ids repeatable. One more millisecond for each
  // known transaction keeps equal deposits apart.
  const timeOfNext = () => (tronCreatedFromMs === undefined ? undefined : tronCreatedFromMs + known.size)
  const ledger = createTronLedger(
    {
      chain,
      node,
      async send(from, to, data = '0x', value = 0n) {
        const clients = chain.as(from)
        const transactionId = await clients.walletClient.sendTransaction({ to, data, value })
        await waitUntilMined(clients, transactionId, 'the transaction')
        return { transactionId }
      },
      mine: (blocks = 1) => chain.node.mine({ blocks }),
    },
    known,
    timeOfNext,
  )
  const data = encodeDepositNative(depositor.address, noOrder)
  const { transactionId } = await ledger.submit(depositor, {
    kind: 'trigger',
    to: depository,
    data,
    callValue: amount,
  })
  await chain.node.mine({ blocks: blocksOnTop })
  return transactionId
}
