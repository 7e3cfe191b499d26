import type { Hex } from '@causeway/core'
import { type FaultProxy, type PoolTestbed, startFaultProxy, startPoolTestbed } from '@causeway/localnet'
import { createJsonRpcClient, type JsonRpcClient, type RpcCall } from '@causeway/rpc'
import { onTestFinished } from 'vitest'

/** A node with Multicall3 and a token, behind a proxy that counts and misbehaves. */
export type EvmTestbed = {
  readonly bed: PoolTestbed
  readonly proxy: FaultProxy
  readonly token: Hex
  readonly owner: Hex
  /** Straight to the node: for preparing state, uncounted. */
  node(call: RpcCall): Promise<unknown>
  /** Through the proxy; closed when the test ends. */
  client(timeoutMs?: number): JsonRpcClient
  stop(): Promise<void>
}

export async function startEvmTestbed(): Promise<EvmTestbed> {
  const bed = await startPoolTestbed()
  const proxy = await startFaultProxy({ targetUrl: bed.anvil.url })
  const direct = createJsonRpcClient({ chainId: 'base', endpoints: [{ url: bed.anvil.url }] })
  return {
    bed,
    proxy,
    token: await bed.deployToken({ symbol: 'USDC', decimals: 6 }),
    owner: `0x${bed.walletClient.account.address.slice(2).toLowerCase()}`,
    node: (call) => direct.request(call, { timeoutMs: 30_000 }),
    client(timeoutMs = 5_000) {
      const client = createJsonRpcClient({
        chainId: 'base',
        endpoints: [{ url: proxy.url }],
        timeoutMs,
      })
      onTestFinished(() => client.close())
      return client
    },
    async stop() {
      await direct.close()
      await proxy.stop()
      await bed.anvil.stop()
    },
  }
}
