import type { Hex } from '@causeway/core'
import { hexToBytes } from '@causeway/core'
import { getOrCompute } from '@causeway/core/encodings'
import { solanaLibrary } from './library.ts'
import { associatedTokenProgram } from './programs.ts'

/**
 * Addresses that a depository program derives, without keys.
 * @source github.com/relayprotocol/relay-depository, relay-depository/src/lib.rs
 */
export type ProgramAddresses = {
  /** The program's own account. */
  readonly state: string
  /** Holds the depository's SOL and owns its token accounts. */
  readonly vault: string
  /** Exists once the withdrawal was executed. */
  usedRequest(withdrawalId: Hex): string
  /** Token account in which the vault receives a mint. */
  vaultTokenAccount(token: SolanaToken): string
}

/** A depository program and the addresses that it derives. */
export type SolanaDepository = { readonly program: string; readonly addresses: ProgramAddresses }

/** A mint, and the token program that owns it and its holders' accounts. */
export type SolanaToken = { readonly mint: string; readonly tokenProgram: string }

/** Derives the addresses of a depository. @throws Error for an address that is no key */
export function deriveProgramAddresses(depository: string): ProgramAddresses {
  const vault = derive(depository, [Buffer.from('vault')])
  return {
    state: derive(depository, [Buffer.from('relay_depository')]),
    vault,
    usedRequest: (withdrawalId) =>
      derive(depository, [Buffer.from('used_request'), hexToBytes(withdrawalId)]),
    vaultTokenAccount: (token) => associatedTokenAccount(vault, token),
  }
}

/** Cached token accounts: the same addresses recur, and a derivation takes two curve checks on average, 0.2 ms each. */
const tokenAccounts = new Map<string, string>()

/**
 * Token account of an owner for a mint. @source SPL Associated Token Account @throws Error for addresses that are no
 * keys
 */
export function associatedTokenAccount(owner: string, { mint, tokenProgram }: SolanaToken): string {
  return getOrCompute(tokenAccounts, `${owner} ${tokenProgram} ${mint}`, () => {
    const { PublicKey } = solanaLibrary()
    const seeds = [owner, tokenProgram, mint].map((address) => new PublicKey(address).toBytes())
    return derive(associatedTokenProgram, seeds)
  })
}

function derive(program: string, seeds: readonly Uint8Array[]): string {
  const { PublicKey } = solanaLibrary()
  return PublicKey.findProgramAddressSync([...seeds], new PublicKey(program))[0].toBase58()
}

/** Cached results of the curve check: the same few thousand addresses recur, and a check takes 0.2 ms. */
const checkedKeys = new Map<string, boolean>()

/**
 * True if an address is a point of the curve, so that it can have a private key. Addresses of programs' own accounts
 * are chosen off the curve. @throws Error for a text that is no address @source Solana documentation, "PDA"
 */
export function isSolanaKey(address: string): boolean {
  return getOrCompute(checkedKeys, address, () => {
    const { PublicKey } = solanaLibrary()
    return PublicKey.isOnCurve(new PublicKey(address).toBytes())
  })
}
