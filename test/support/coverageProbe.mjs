// Loaded into a service before its own code: tells its parent, when asked, which functions ran since the last time.
import { Session } from 'node:inspector'

const session = new Session()
session.connect()
session.post('Profiler.enable')
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

process.on('message', () => {
  session.post('Profiler.takePreciseCoverage', (error, coverage) => {
    if (error !== null) throw new Error(error.message)
    const ran = coverage.result
      .filter(({ url }) => /\/(?:packages|apps)\/[^/]+\/src\//.test(url) && !url.includes('/node_modules/'))
      .flatMap(({ url, functions }) =>
        // The first range of a function is the whole of it. A module's own code has no name and begins at 0.
        functions
          .filter(({ ranges: [whole] }) => whole.count > 0 && whole.startOffset > 0)
          .map(({ functionName, ranges: [whole] }) => ({ url, name: functionName, at: whole.startOffset })),
      )
    process.send?.(ran)
  })
})
// The channel to the parent keeps no service alive.
process.channel?.unref()
