// `npm run verify-attestation -- --file response.json --signers 0x…;0x… --threshold 2`: counts the listed
// signers that signed all of an attestation for the hub of an environment. Ends with 0 when the threshold
// is met, 1 when it is not, 2 when it could not be told.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chainsFileSchema, hubFileSchema } from '@causeway/core'
import { describeVerdict, parseOptions, usage, verifyFile } from './verifyAttestation/verifyFile.ts'

const readJson = (path: string | URL): unknown => JSON.parse(readFileSync(path, 'utf8'))

function main(): number {
  const options = parseOptions(process.argv.slice(2))
  if (options === undefined) {
    console.error(usage)
    return 2
  }
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
  return verdict.isQuorum ? 0 : 1
}

try {
  process.exitCode = main()
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 2
}
