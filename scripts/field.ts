// `npm run field -- testnets`: the services on real test networks for an hour, with endpoints and a funded key. It reads,
// quotes, pays and attests, says before each step what it will spend, and brings back a report and records of what nodes
// answered. docs/operating/field.md has the settings.
import { ConfigurationError } from '@causeway/core'
import { StartFailure } from '@causeway/localnet'
import { parseFieldOptions } from './field/options.ts'
import { runField } from './field/run.ts'

// Working directory: `run.mjs` starts the script in the root of the repository.
const root = process.cwd()
const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort())
// A closed terminal must not keep money from being given back.
process.stdout.on('error', () => stopping.abort())

try {
  const options = parseFieldOptions(process.argv.slice(2), process.env, root)
  const isWhole = await runField({
    ...options,
    repositoryRoot: root,
    signal: stopping.signal,
    print: (line) => console.log(line),
  })
  process.exitCode = isWhole ? 0 : 1
} catch (error) {
  if (!(error instanceof ConfigurationError || error instanceof StartFailure)) throw error
  console.error(error.message)
  process.exitCode = 1
}
