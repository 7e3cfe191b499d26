import {
  type ChainCheck,
  contractPayingFamily,
  examineClock,
  examineEndpoints,
  examineHeadPushes,
  findContradictions,
  headSeconds,
  isReadable,
  verifyChain,
} from '@causeway/chains'
import type { Findings, QuoteChain, SolverChainPolicy } from '@causeway/core/config'
import type { RegisteredChain } from '@causeway/families'
import { connectChains } from './chains.ts'
import type { LoadedFiles } from './files.ts'
import { openHub } from './hub.ts'
import { openFamily, openSubmit } from './paidChain.ts'

/** For `doctor`: compares the chains that are paid on and all that are read with the configuration, and closes them. */
export async function examineChains(
  files: LoadedFiles,
  nowMs: () => number,
  findings: Findings,
): Promise<void> {
  const { chains, quote, solver } = files
  await Promise.all(
    Object.entries(solver.chains).map(([key, policy]) =>
      examineSubmit(key, policy, { chain: chains.chains.get(key), config: quote.chains[key] }, findings),
    ),
  )
  const hub = openHub(files, { oracles: undefined, signer: undefined })
  const connections = connectChains(files)
  const families = Object.keys(solver.chains).flatMap((key) => {
    const chain = chains.chains.get(key)
    if (chain === undefined || !isReadable(chain)) return []
    const family = findings.attempt(() => openFamily(chain, hub), 'configuration-wrong')
    return family === undefined ? [] : [{ key, family }]
  })
  const checks = families.map(({ key, family }): readonly [string, ChainCheck] => [
    key,
    (signal) => verifyChain(family, chains.environment, signal),
  ])
  const headReaders = connections.map(
    ({ chain, client }) =>
      () =>
        headSeconds(chain, client),
  )
  try {
    const [problems] = await Promise.all([
      findContradictions(new Map(checks)),
      ...connections.map(({ client }) => examineEndpoints(client, findings)),
      ...connections.map(({ chain }) => examineHeadPushes(chain, findings)),
      examineClock(headReaders, nowMs, findings),
    ])
    findings.problems(problems, 'chain-contradicts')
  } finally {
    await Promise.all([
      ...families.map(({ family }) => family.close()),
      ...connections.map(({ client }) => client.close()),
    ])
    await hub?.close()
  }
}

/** Finds a submit endpoint that does not answer, or says that it is of another chain. */
async function examineSubmit(
  key: string,
  policy: SolverChainPolicy,
  { chain, config }: { readonly chain: RegisteredChain | undefined; readonly config: QuoteChain | undefined },
  findings: Findings,
): Promise<void> {
  const family = chain && contractPayingFamily(chain)
  if (family === undefined) return
  const client = findings.attempt(() => openSubmit(key, policy), 'configuration-wrong')
  if (client === undefined) return
  const setting = `submitRpcUrl of ${key}`
  const submitAnswer = await family.askSubmit(client, config?.chainId)
  await client.close()
  if (submitAnswer === 'silent') {
    const observation = 'it does not answer: nothing is signed there until it does'
    const fix =
      'Mend or replace it in its variable, or unset that: then the endpoints of the chain get transactions.'
    findings.add({ code: 'endpoint-silent', severity: 'degrades', setting, seen: observation, fix })
  }
  if (submitAnswer === 'of-another-chain')
    findings.problems([`${setting}: it is of another chain`], 'chain-contradicts')
}
