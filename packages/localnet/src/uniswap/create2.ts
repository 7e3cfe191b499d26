import { create2Proxy } from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import { concatHex, getContractAddress } from 'viem'
import { type LocalClients, mined } from '../nodes/clients.ts'

/** Every anvil has it from its first block. */
export { create2Proxy }

/** Salt of contracts that no operator deploys. */
export const zeroSalt: Hex = `0x${'00'.repeat(32)}`

/** Address of a contract by `deployThroughProxy`: it depends on the creation code alone. */
export function create2Address(initCode: Hex): Hex {
  return lowerCase(
    getContractAddress({ opcode: 'CREATE2', from: create2Proxy, salt: zeroSalt, bytecode: initCode }),
  )
}

/** Deploys once; a contract that is already there is left alone. @returns its address, lower case */
export async function deployThroughProxy(
  clients: LocalClients,
  initCode: Hex,
  subject: string,
): Promise<Hex> {
  const address = create2Address(initCode)
  if (await hasCode(clients, address)) return address
  await sendToProxy(clients, initCode, subject)
  if (!(await hasCode(clients, address))) throw new Error(`${subject} has no code after its deployment`)
  return address
}

/** Sends creation code to the proxy without looking at what it leaves behind. */
export async function sendToProxy(clients: LocalClients, initCode: Hex, subject: string): Promise<void> {
  const hash = await clients.walletClient.sendTransaction({
    to: create2Proxy,
    data: concatHex([zeroSalt, initCode]),
  })
  await mined(clients, hash, `deployment of ${subject}`)
}

export async function hasCode(clients: LocalClients, address: Hex): Promise<boolean> {
  const code = await clients.publicClient.getCode({ address })
  return code !== undefined && code !== '0x'
}

export function lowerCase(address: Hex): Hex {
  // CAST: lower case hex is still hex.
  return address.toLowerCase() as Hex
}
