import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { deriveProgramAddresses } from '@causeway/families/rules'
import { PublicKey } from '@solana/web3.js'
import type { Depository } from './instructions.ts'
import type { SolanaNode } from './solanaNode.ts'

const folders = {
  depositAddresses: '../../../../contracts/programs/solana',
  depository: '../../../src/standIns/solana/programs',
  forwarder: '../../../src/standIns/solana/programs',
}

/** A program's ELF file, which `scripts/buildSolanaPrograms.ts` builds; bundled code finds it by the same paths. */
export function programBytes(name: keyof typeof folders): Buffer {
  return readFileSync(new URL(`${folders[name]}/${name}.so`, import.meta.url))
}

/** Discriminator of an account as Anchor writes it: the first eight bytes of SHA-256 over `account:<name>`. */
const stateDiscriminator = createHash('sha256').update('account:RelayDepository').digest().subarray(0, 8)
/** Room for the members of the public program's account, which nothing here reads. */
const stateBytes = 128

/** Puts the depository program at an address, with its initialised state account. Its vault is not funded. */
export function deployDepository(node: SolanaNode, address: string): Depository {
  node.addProgram(address, programBytes('depository'))
  const addresses = deriveProgramAddresses(address)
  const data = new Uint8Array(stateBytes)
  data.set(stateDiscriminator)
  node.place(addresses.state, { owner: address, data })
  return { program: new PublicKey(address), addresses }
}
