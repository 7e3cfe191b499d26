import type { Hex } from '@causeway/core'
import { associatedTokenProgram, hexToBytes } from '@causeway/core'

/** Addresses that a depository derives: none has a key. @source oracle-protocol.md 5.2 */
export type ProgramAddresses = {
  /** Holds the depository's SOL and owns its token accounts. */
  readonly vault: string
  /** Exists once the withdrawal was executed. */
  usedRequest(withdrawalId: Hex): string
  /** Where the vault receives a mint. */
  vaultTokenAccount(mint: string, tokenProgram: string): string
}

/** A service without a Solana chain never loads it: it takes a sixth of a second and 25 MiB. See decision 15. */
export function loadSolanaLibrary(): Promise<typeof import('@solana/web3.js')> {
  return import('@solana/web3.js')
}

export async function deriveProgramAddresses(depository: string): Promise<ProgramAddresses> {
  const { PublicKey } = await loadSolanaLibrary()
  const derive = (seeds: readonly Uint8Array[], program: string) =>
    PublicKey.findProgramAddressSync([...seeds], new PublicKey(program))[0]
  const vault = derive([Buffer.from('vault')], depository)
  return {
    vault: vault.toBase58(),
    usedRequest: (withdrawalId) =>
      derive([Buffer.from('used_request'), hexToBytes(withdrawalId)], depository).toBase58(),
    vaultTokenAccount: (mint, tokenProgram) =>
      derive(
        [vault.toBytes(), new PublicKey(tokenProgram).toBytes(), new PublicKey(mint).toBytes()],
        associatedTokenProgram,
      ).toBase58(),
  }
}
