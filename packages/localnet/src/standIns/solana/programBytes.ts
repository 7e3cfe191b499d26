import { readFileSync } from 'node:fs'

/** A program of this folder, as `scripts/buildSolanaPrograms.ts` links it. Built code reads the sources' file. */
export function programBytes(name: 'depository' | 'forwarder'): Buffer {
  return readFileSync(new URL(`../../../src/standIns/solana/programs/${name}.so`, import.meta.url))
}
