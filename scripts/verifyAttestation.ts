// Counts the listed signers that signed all of an attestation for the hub of an environment.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chainsFileSchema, hubFileSchema } from '@causeway/core/config'
import { describeVerdict, verifyFile } from './verifyAttestation/verifyFile.ts'
import type { VerifyOptions } from './verifyAttestation/verifyOptions.ts'

const readJson = (path: string | URL): unknown => JSON.parse(readFileSync(path, 'utf8'))

/** @returns whether the threshold is met */
export function printVerdict(options: VerifyOptions): boolean {
  const config = (name: string) => {
    const folder = options.configDirectory ?? fileURLToPath(new URL('../configs', import.meta.url))
    return readJson(`${folder}/${name}.${options.environment}.json`)
  }
  const verdict = verifyFile({
    options,
    response: readJson(options.file),
    hub: hubFileSchema.parse(config('chains.hub')),
    chains: chainsFileSchema.parse(config('chains')),
  })
  console.log(describeVerdict(verdict))
  return verdict.isQuorum
}
