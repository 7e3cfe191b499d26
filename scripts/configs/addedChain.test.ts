// Goal: an EVM chain is added by its entries in two configuration files, as the guide says, and by nothing else.
// Attack: a list somewhere that has to be known, and an entry that was forgotten. Method: the shipped files, with a
// chain more in them.
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { readRepositoryFiles } from '../checks/repositoryFiles.ts'
import { variablesCheck } from '../checks/variables.ts'
import { fileNames, parseConfigSet, readRawConfigSet } from './configFiles.ts'
import { findBrokenReferences } from './crossReferences.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const environment = 'testnets.prod'
const anyObject = z.looseObject({})
const shipped = z
  .object({
    chains: z.looseObject({ chains: z.array(z.looseObject({ id: z.string() })) }),
    hub: z.unknown(),
    quote: z.looseObject({
      chains: z.record(z.string(), z.looseObject({ currencies: z.array(anyObject) })),
    }),
  })
  .parse(readRawConfigSet(join(root, 'configs'), environment))

type File = 'chains' | 'quote'

/** The files with a chain more in those that are named, alike to the first one that is priced. */
function withChain(...files: readonly File[]) {
  const { chains, hub, quote } = shipped
  const listed = chains.chains.find(({ id }) => quote.chains[id] !== undefined)
  const priced = quote.chains[listed?.id ?? '']
  if (priced === undefined) throw new Error('no chain of the environment is priced')
  // A chain where the solver keeps nothing has no share of an asset.
  const currencies = priced.currencies.map(({ solver, targetShareBps, ...currency }) => currency)
  const added = {
    chains: { ...listed, id: 'mychain', httpRpcUrl: '$MYCHAIN_RPC_URL', hubChainId: '4242' },
    quote: { ...priced, chainId: 4242, name: 'mychain', displayName: 'My Chain', currencies },
  }
  return {
    chains: {
      ...chains,
      chains: [...chains.chains, ...(files.includes('chains') ? [added.chains] : [])],
    },
    hub,
    quote: {
      ...quote,
      chains: { ...quote.chains, ...(files.includes('quote') && { mychain: added.quote }) },
    },
  }
}

describe('a chain that is added', () => {
  test('needs its entries in two files, which then agree', () => {
    expect(findBrokenReferences(parseConfigSet(environment, withChain('chains', 'quote')))).toEqual([])
  })

  test('may be attested without being priced', () => {
    expect(findBrokenReferences(parseConfigSet(environment, withChain('chains')))).toEqual([])
  })

  test('is not priced without being listed', () => {
    expect(findBrokenReferences(parseConfigSet(environment, withChain('quote')))).toEqual([
      'quote chain mychain is not in the chains file',
    ])
  })

  test('brings a variable for its endpoints that no page has to name', () => {
    const files = readRepositoryFiles(root)
    const changed = withChain('chains', 'quote')
    const texts = new Map([
      [`configs/${fileNames(environment).chains}`, JSON.stringify(changed.chains)],
      [`configs/${fileNames(environment).quote}`, JSON.stringify(changed.quote)],
    ])
    expect(files.filter(({ path }) => texts.has(path))).toHaveLength(2)
    const after = files.map(({ path, text }) => ({ path, text: texts.get(path) ?? text }))
    expect(variablesCheck.find(after)).toEqual([])
  })
})
