import { freeLoopbackPort } from '@causeway/database'
import type { ChainKey } from '../../src/network/chainPlan.ts'

export async function freeChainPorts(): Promise<Readonly<Record<ChainKey, number>>> {
  const [base, optimism, hub] = [await freeLoopbackPort(), await freeLoopbackPort(), await freeLoopbackPort()]
  return { base, optimism, hub }
}
