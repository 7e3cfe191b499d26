import { readFile } from 'node:fs/promises'
import { z } from 'zod'

const account = z.object({
  address: z.templateLiteral(['0x', z.string()]),
  privateKey: z.templateLiteral(['0x', z.string()]),
})

const contractChain = z.object({
  id: z.number(),
  name: z.string(),
  rpcUrl: z.url(),
  tokens: z.record(z.string(), z.templateLiteral(['0x', z.string()])),
})

/** The parts of `network.json` that the demo works with. */
const networkSchema = z.object({
  quoteApi: z.object({ url: z.url() }),
  oracles: z.array(z.object({ url: z.url() })).min(1),
  // Chains whose tokens are contracts; the others are left out.
  chains: z.array(z.unknown()).transform((entries) =>
    entries.flatMap((entry) => {
      const parsed = contractChain.safeParse(entry)
      return parsed.success ? [parsed.data] : []
    }),
  ),
  accounts: z.array(account).min(1),
  sponsor: z.object({
    apiKey: z.string(),
    wallet: z.templateLiteral(['0x', z.string()]),
    walletPrivateKey: z.templateLiteral(['0x', z.string()]),
  }),
})

/** Destinations of a request: any quoted chain. */
const destinationsSchema = z.object({
  chains: z.array(z.object({ id: z.number(), name: z.string(), tokens: z.record(z.string(), z.string()) })),
})

export type DemoNetwork = z.infer<typeof networkSchema> & {
  readonly destinations: z.infer<typeof destinationsSchema>['chains']
}

/** @returns undefined when no local network with a sponsor runs there */
export async function readDemoNetwork(path: string): Promise<DemoNetwork | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const json: unknown = JSON.parse(text)
  const [parsed, destinations] = [networkSchema.safeParse(json), destinationsSchema.safeParse(json)]
  if (!parsed.success || !destinations.success) return undefined
  const answers = await fetch(`${parsed.data.quoteApi.url}/chains`).then(
    (response) => response.ok,
    () => false,
  )
  return answers ? { ...parsed.data, destinations: destinations.data.chains } : undefined
}
