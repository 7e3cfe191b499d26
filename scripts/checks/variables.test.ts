import { describe, expect, test } from 'vitest'
import { variablesCheck, variablesReadBy } from './variables.ts'

const source = `const variables = z.object({ HTTP_PORT: port.optional(), LOG_LEVEL: z.enum(['info', 'debug']) })`

function problems(args: { own: readonly string[]; ofFiles: readonly string[] }): readonly string[] {
  const own = args.own.map((name) => `- \`${name}\` (\`x\`): y\n`).join('')
  const ofFiles = args.ofFiles.map((name) => `- \`${name}\`: x\n`).join('')
  const text = `## Variables of quote-api\n\n${own}\n## Variables that the configuration files name\n\n${ofFiles}`
  return variablesCheck
    .find([
      { path: 'docs/operating/configuration.md', text },
      { path: 'apps/quote-api/src/config/config.ts', text: source },
      { path: 'packages/signer/src/signer.ts', text: 'environment.KEY_FILE' },
      { path: 'packages/signer/src/signer.test.ts', text: 'environment.OLD_PORT' },
      { path: 'configs/quote.local.json', text: '{"a":"$FILL_WALLET_ADDRESS","b":["$BASE_RPC_URL"]}' },
    ])
    .map((finding) => finding.problem)
}

describe('variables check', () => {
  test('reads the names that the service parses', () => {
    expect(variablesReadBy(source)).toEqual(['HTTP_PORT', 'LOG_LEVEL'])
  })

  test('accepts a page with all of them and with the placeholders of the files', () => {
    expect(
      problems({ own: ['HTTP_PORT', 'LOG_LEVEL', 'KEY_FILE'], ofFiles: ['FILL_WALLET_ADDRESS'] }),
    ).toEqual([])
  })

  test('reports a variable that the page lacks, one that nothing reads, and a forgotten placeholder', () => {
    expect(problems({ own: ['HTTP_PORT', 'OLD_PORT'], ofFiles: [] })).toEqual([
      'LOG_LEVEL is not in docs/operating/configuration.md',
      'nothing reads OLD_PORT',
      'FILL_WALLET_ADDRESS is not in docs/operating/configuration.md',
    ])
  })

  test('leaves the variables of the start command alone', () => {
    const own = ['HTTP_PORT', 'LOG_LEVEL', 'CAUSEWAY_QUOTE_PORT']
    expect(problems({ own, ofFiles: ['FILL_WALLET_ADDRESS'] })).toEqual([])
  })
})
