// `npm run tools -- <name>`: what is run now and then, by those who develop, release or check something. Ends with 0 when
// all is well, with 1 when it is not, with 2 when it could not be told.
import { spawnSync } from 'node:child_process'
import { type Arguments, type CommandForm, takeCommandLine } from '@causeway/cli'
import { verifyForm, verifyOptions } from './verifyAttestation/verifyOptions.ts'

type Tool = CommandForm & {
  /** Loads what it needs. @returns whether all is well */
  run(args: Arguments): Promise<boolean>
}

const tools: readonly Tool[] = [
  {
    words: 'freeze-migrations',
    about: 'Add new migrations to the list of frozen ones',
    run: async () => (await import('./freezeMigrations.ts')).freezeMigrations(),
  },
  {
    words: 'sbom',
    about: 'Write the bill of materials of each image to sbom/<service>.cdx.json',
    flags: { bundled: { value: '<folder>', about: 'Compare with what the build of the images bundled' } },
    run: async (args) => (await import('./sbom.ts')).writeBills(args.text('bundled')),
  },
  {
    words: 'images',
    about: 'Build and run images without a container engine; needs root, buildah and debootstrap',
    operands: ['[service...]'],
    run: async (args) => (await import('./images.ts')).tryImages(args.list('service')),
  },
  {
    words: 'rules',
    about: 'List the tests that prove each rule, by the last run of each suite; fails where one has none',
    run: async () => (await import('./rules.ts')).printRules(),
  },
  {
    words: 'change-shard',
    about: 'Run a shard of a suite that the change touches, beside npm test; .ci/run does',
    flags: {
      minutes: { value: '<number>', about: 'Stop after so long and name what did not run; 8 by default' },
      base: {
        value: '<commit>',
        about: 'Where the change began; the merge base with origin/main by default',
      },
    },
    run: async (args) =>
      (await import('./changeShard.ts')).runChangeShard(Number(args.text('minutes') ?? 8), args.text('base')),
  },
  {
    words: 'record',
    about: 'Record all answers of the services again, which npm test compares with theirs',
    async run() {
      const args = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'e2e', 'test/recording']
      const env = { ...process.env, CAUSEWAY_RECORD: '1' }
      return spawnSync(process.execPath, args, { env, stdio: 'inherit' }).status === 0
    },
  },
  {
    words: 'broken-behaviours',
    about: 'Break each listed behaviour in a copy of this checkout; fails where its tests stay green',
    operands: ['[id...]'],
    run: async (args) => (await import('./brokenBehaviours.ts')).breakBehaviours(args.list('id')),
  },
  {
    words: 'structure',
    about: 'Count files, lines and import cycles per package, and words of pages',
    async run() {
      ;(await import('./structure.ts')).printStructure()
      return true
    },
  },
  {
    ...verifyForm,
    run: async (args) => (await import('./verifyAttestation.ts')).printVerdict(verifyOptions(args)),
  },
  {
    words: 'verify-timeline',
    about: 'Check a saved, signed timeline against the address of the evidence key',
    operands: ['file', 'address'],
    async run(args) {
      const { main } = await import('../docs/guides/examples/verifyTimeline.ts')
      return (await main([args.operand('file'), args.operand('address')])) === 0
    },
  },
]

const { command, args } = takeCommandLine(process.argv.slice(2), {
  name: 'npm run tools --',
  about: 'What is run now and then.',
  commands: tools,
})
try {
  process.exitCode = (await command.run(args)) ? 0 : 1
} catch (error) {
  console.error(error instanceof Error && command.words.startsWith('verify') ? error.message : error)
  process.exitCode = 2
}
