import { tronAddress } from '@causeway/core/encodings'
import type { ChainClient, RpcCall } from '@causeway/rpc'
import { expect, test } from 'vitest'
import { nodeAddress } from '../rules/quoting/tronQuoting.ts'
import { tronSettlingChain } from './tronSettlingChain.ts'

const ownContract = `0x${'11'.repeat(20)}` as const
const earlierContract = `0x${'22'.repeat(20)}` as const
const depository = tronAddress(`0x${'33'.repeat(20)}`)
const address = tronAddress(`0x${'44'.repeat(20)}`)

// A refund is given where nothing is recorded: an order of an earlier release is recorded by its own contract.
test.each([
  [undefined, ownContract],
  [earlierContract, earlierContract],
] as const)(
  'L-29: whether an order is paid is asked of the contract that it names: %s',
  async (named, asked) => {
    const calls: RpcCall[] = []
    // CAST: what the question needs of a client.
    const client = {
      endpoints: [],
      electorate: { size: 1, threshold: 1 },
      async poll(polled: readonly RpcCall[]) {
        calls.push(...polled)
        return 'paid'
      },
    } as unknown as ChainClient
    const chain = tronSettlingChain({
      // CAST: the members that settling looks at.
      chain: { id: 'tron', vmType: 'tron-vm', depository, rpcThreshold: 1 } as never,
      client,
      quoted: { config: { blockTimeMs: 3_000 }, currencies: [] },
      payer: { address, fillContract: ownContract },
    })
    expect(await chain.isPaid?.(`0x${'55'.repeat(32)}`, new AbortController().signal, named)).toBe(true)
    expect(JSON.stringify(calls)).toContain(nodeAddress(tronAddress(asked)))
    expect(JSON.stringify(calls)).not.toContain(
      nodeAddress(tronAddress(asked === ownContract ? earlierContract : ownContract)),
    )
  },
)
