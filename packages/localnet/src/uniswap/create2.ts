import { create2Proxy } from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import { concatHex, getContractAddress } from 'viem'
import { type LocalClients, waitUntilMined } from '../nodes/clients.ts'

/** The CREATE2 proxy of public chains, which every anvil has from its first block. */
export { create2Proxy }

/** Salt of contracts that do not belong to an operator. */
export const zeroSalt: Hex = `0x${'00'.repeat(32)}`

/** Address at which `deployThroughProxy` puts a contract: it depends on the creation code alone. */
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

/** Sends creation code to the proxy, without a check that a contract stands there then. */
export async function sendToProxy(clients: LocalClients, initCode: Hex, subject: string): Promise<void> {
  const hash = await clients.walletClient.sendTransaction({
    to: create2Proxy,
    data: concatHex([zeroSalt, initCode]),
  })
  await waitUntilMined(clients, hash, `deployment of ${subject}`)
}

export async function hasCode(clients: LocalClients, address: Hex): Promise<boolean> {
  const code = await clients.publicClient.getCode({ address })
  return code !== undefined && code !== '0x'
}

export function lowerCase(address: Hex): Hex {
  // CAST: lower case hex is still hex.
  return address.toLowerCase() as Hex
}
