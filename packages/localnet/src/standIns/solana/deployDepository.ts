import { createHash } from 'node:crypto'
import { deriveProgramAddresses } from '@causeway/chains'
import { PublicKey } from '@solana/web3.js'
import { type Depository, stateOf } from './instructions.ts'
import { programBytes } from './programBytes.ts'
import type { SolanaNode } from './solanaNode.ts'

/** Of an account as Anchor writes it: the first eight bytes of SHA-256 over `account:<name>`. */
const stateDiscriminator = createHash('sha256').update('account:RelayDepository').digest().subarray(0, 8)
/** Room for the members of the public one, which nothing here reads. */
const stateBytes = 128

/** The depository program at an address, initialised: its own account is there. Its vault is not funded. */
export async function deployDepository(node: SolanaNode, address: string): Promise<Depository> {
  node.addProgram(address, programBytes('depository'))
  const program = new PublicKey(address)
  const data = new Uint8Array(stateBytes)
  data.set(stateDiscriminator)
  node.place(stateOf({ program }).toBase58(), { owner: address, data })
  return { program, addresses: await deriveProgramAddresses(address) }
}
