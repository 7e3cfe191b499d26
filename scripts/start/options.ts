import { resolve } from 'node:path'
import { ConfigurationError, listenPort } from '@causeway/core'
import { isPersonalityName, nodePersonalities, type PersonalityName } from '@causeway/localnet'
import { z } from 'zod'

/** Chains, or the ports of a service, follow on a first port. */
const firstPort = listenPort.min(1).max(65_000)

const variables = z.object({
  CAUSEWAY_QUOTE_PORT: firstPort.default(3000),
  CAUSEWAY_ORACLE_PORT: firstPort.default(3100),
  CAUSEWAY_CHAIN_PORT: firstPort.default(8545),
  CAUSEWAY_LOCAL_DIR: z.string().default('.local'),
})

export type StartOptions = {
  readonly fresh: boolean
  /** An oracle in shadow mode runs beside the others. */
  readonly shadow: boolean
  /** Behaviour of the nodes that services read. */
  readonly endpoints?: PersonalityName
  /** Absolute. */
  readonly directory: string
  readonly firstPorts: { readonly quote: number; readonly oracle: number; readonly families: number }
  readonly chainPorts: { readonly base: number; readonly optimism: number; readonly hub: number }
}

const flags: readonly string[] = ['--fresh', '--shadow']

/** Reads words and variables of `npm start`; an empty variable counts as unset. @throws ConfigurationError */
export function parseStartOptions(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  root: string,
): StartOptions {
  const at = words.indexOf('--endpoints')
  const endpoints = at < 0 ? undefined : personalityOf(words[at + 1])
  const isOfEndpoints = (index: number) => at >= 0 && (index === at || index === at + 1)
  const unknown = words.find((word, index) => !flags.includes(word) && !isOfEndpoints(index))
  if (unknown !== undefined) {
    throw new ConfigurationError(`not understood: ${unknown}. What is: npm start -- --help`)
  }
  const set = Object.entries(environment).filter(([, value]) => value !== undefined && value !== '')
  const parsed = variables.safeParse(Object.fromEntries(set))
  if (!parsed.success) throw new ConfigurationError(`Bad environment:\n${z.prettifyError(parsed.error)}`)
  const { CAUSEWAY_QUOTE_PORT, CAUSEWAY_ORACLE_PORT, CAUSEWAY_CHAIN_PORT, CAUSEWAY_LOCAL_DIR } = parsed.data
  return {
    fresh: words.includes('--fresh'),
    shadow: words.includes('--shadow'),
    ...(endpoints !== undefined && { endpoints }),
    directory: resolve(root, CAUSEWAY_LOCAL_DIR),
    firstPorts: {
      quote: CAUSEWAY_QUOTE_PORT,
      oracle: CAUSEWAY_ORACLE_PORT,
      families: CAUSEWAY_CHAIN_PORT + 3,
    },
    chainPorts: {
      base: CAUSEWAY_CHAIN_PORT,
      optimism: CAUSEWAY_CHAIN_PORT + 1,
      hub: CAUSEWAY_CHAIN_PORT + 2,
    },
  }
}

/** @throws ConfigurationError that lists the names */
function personalityOf(name = ''): PersonalityName {
  if (isPersonalityName(name)) return name
  const names = Object.keys(nodePersonalities).join(', ')
  throw new ConfigurationError(`--endpoints ${name}: no such behaviour of nodes. There are: ${names}`)
}
