import { resolve } from 'node:path'
import { type End, oneCommand, takeCommandLine } from '@causeway/cli'
import { ConfigurationError } from '@causeway/core'
import { listenPort } from '@causeway/core/config'
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

export type Places = {
  /** Directory of the state, absolute. */
  readonly directory: string
  readonly firstPorts: { readonly quote: number; readonly oracle: number; readonly families: number }
  readonly chainPorts: { readonly base: number; readonly optimism: number; readonly hub: number }
}

export type StartOptions = Places & {
  readonly fresh: boolean
  /** An oracle in shadow mode runs beside the others. */
  readonly shadow: boolean
  /** Behaviour of the nodes that services read. */
  readonly endpoints?: PersonalityName
}

const about =
  'Starts a local network with every service, and prints addresses, keys and requests to paste. Ctrl-C stops everything; the next start goes on from there.'

/** `help.txt` is its help, for whoever has nothing installed. */
export const startProgram = oneCommand('npm start --', about, {
  flags: {
    fresh: {
      about:
        'begin anew; the state of earlier starts is moved to <folder>/release-…, where you may delete it',
    },
    shadow: {
      about:
        'one more oracle, in shadow mode: it compares what oracle-1 signs with its own; see docs/operating/shadow.md',
    },
    endpoints: {
      value: '<name>',
      about:
        'services read the chains through nodes that answer like hosted ones; a wrong name lists them all',
    },
  },
  notes: `Variables:
  CAUSEWAY_QUOTE_PORT    first port of quote-api, by default 3000
  CAUSEWAY_ORACLE_PORT   of the oracles, 3100
  CAUSEWAY_CHAIN_PORT    of the chains, 8545
  CAUSEWAY_LOCAL_DIR     folder of the state, .local
BASE_RPC_URL and the like, if set: the services read that chain there, in place of its node.

A port that is taken is left out for the next free one; what is printed and <folder>/network.json have the real ones.

Then: npm run demo, npm run localnet -- help, npm run causeway -- help; docs/guides/local-chains.md`,
})

/** Reads words and variables of `npm start`. @throws ConfigurationError */
export function parseStartOptions(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  root: string,
  end?: End,
): StartOptions {
  const { args } = takeCommandLine(words, startProgram, end)
  const name = args.text('endpoints')
  return {
    fresh: args.isOn('fresh'),
    shadow: args.isOn('shadow'),
    ...(name !== undefined && { endpoints: personalityOf(name) }),
    ...readPlaces(environment, root),
  }
}

/** Directory and ports of this folder's local network; an empty variable counts as unset. @throws ConfigurationError */
export function readPlaces(environment: Readonly<Record<string, string | undefined>>, root: string): Places {
  const set = Object.entries(environment).filter(([, value]) => value !== undefined && value !== '')
  const parsed = variables.safeParse(Object.fromEntries(set))
  if (!parsed.success) throw new ConfigurationError(`Bad environment:\n${z.prettifyError(parsed.error)}`)
  const { CAUSEWAY_QUOTE_PORT, CAUSEWAY_ORACLE_PORT, CAUSEWAY_CHAIN_PORT, CAUSEWAY_LOCAL_DIR } = parsed.data
  return {
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
function personalityOf(name: string): PersonalityName {
  if (isPersonalityName(name)) return name
  const names = Object.keys(nodePersonalities).join(', ')
  throw new ConfigurationError(`--endpoints ${name}: no such behaviour of nodes. There are: ${names}`)
}
