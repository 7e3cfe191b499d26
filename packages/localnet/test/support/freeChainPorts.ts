import type { ChainKey } from '../../src/network/chainPlan.ts'
import { freePort } from '../../src/nodes/anvil.ts'

export async function freeChainPorts(): Promise<Readonly<Record<ChainKey, number>>> {
  const [base, optimism, hub] = [await freePort(), await freePort(), await freePort()]
  return { base, optimism, hub }
}
