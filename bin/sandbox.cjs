/* `postern/sandbox`. The names stand here one by one, because `import` looks for them in the text. */
'use strict'

var sandbox = require('./load-module.cjs')('sandbox')

exports.createSandbox = sandbox.createSandbox
exports.createControlClient = sandbox.createControlClient
exports.ControlError = sandbox.ControlError
exports.playScenario = sandbox.playScenario
exports.ScenarioError = sandbox.ScenarioError
